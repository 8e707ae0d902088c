import EideticCodecs
import EideticCore
import EideticTestSupport
import Glibc
import Testing

/// An image coded without loss by libavif's encoder (`avifenc`, of Debian's libavif-bin).
struct AV1Image {
    static let isAvailable = access("/usr/bin/avifenc", X_OK) == 0

    /// The coded data, without the container.
    let data: [UInt8]
    /// The configuration, colours and depths that the container states, as properties.
    let properties: [[UInt8]]
    let size: PixelSize

    /// Encodes the pixels; only their brightness if `isAlpha`.
    init(_ pixels: PixelBuffer, isAlpha: Bool = false) async throws {
        let arguments = isAlpha ? ["--min", "0", "--max", "0", "-y", "400", "-r", "full"] : ["-l"]
        let file = try await Self.file(of: [pixels], arguments: arguments)
        func content(of name: String, from start: Int = 0) throws -> ArraySlice<UInt8> {
            let name = Array(name.utf8)
            let first = try #require(file.indices.dropFirst(start + 4).first { file[$0...].starts(with: name) })
            let length = file[first - 4..<first].reduce(0) { $0 << 8 | Int($1) }
            return file[first - 4..<first - 4 + length]
        }
        data = Array(try content(of: "mdat").dropFirst(8))
        properties = try ["av1C", "colr", "pixi"].compactMap { name in
            isAlpha && name == "colr" ? nil : Array(try content(of: name))
        }
        size = pixels.size
    }

    /// Returns the file of one or more frames.
    static func file(of frames: [PixelBuffer], arguments: [String]) async throws -> [UInt8] {
        let directory = try TemporaryDirectory()
        let names = try frames.enumerated().map { index, pixels in
            try directory.write(Fixture.encode(pixels, as: .png), to: "\(index).png")
        }
        let output = directory.path(of: "output.avif")
        let result = try await Subprocess.run(
            "/usr/bin/avifenc",
            arguments: arguments + ["-s", "10"] + names + ["-o", output]
        )
        #expect(String(decoding: result.output, as: UTF8.self).contains("Wrote AVIF"))
        return try withExtendedLifetime(directory) { try directory.contents(of: "output.avif") }
    }
}
