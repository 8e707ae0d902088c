import EideticCodecs
import EideticCore
import EideticTestSupport
import Glibc
import Testing

/// Decodes to an eighth of the size, each in a process that does nothing else.
@Suite("Scaling by the codec", .serialized, .timeLimit(.minutes(2)))
struct CodecScalingTests {
    private static let smallSize = PixelSize(width: 200, height: 150)

    /// Returns the path of a file with an image of eight times that size.
    private func writeImage(_ format: ImageFormat, to directory: TemporaryDirectory) throws -> String {
        let pixels = try TestImages.photo(width: 1_600, height: 1_200)
        return try directory.write(try Fixture.encode(pixels, as: format, quality: 0.5), to: "image")
    }

    @discardableResult
    private static func decode(_ bytes: [UInt8], to size: PixelSize? = nil) throws -> Image {
        try ImageDecoder.decode(bytes, options: .with { $0.size = size })
    }

    /// Returns the most memory that this process has used, in bytes.
    private static func peakMemory() throws -> Int {
        let lines = String(decoding: try FileSystem().contents(of: "/proc/self/status"), as: UTF8.self)
            .split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("VmHWM:") })
        return 1_024 * (try #require(Int(line.filter(\.isNumber))))
    }

    @Test(
        "F04 an image decoded to an eighth uses less than half of the memory of all its pixels",
        .disabled(if: Sanitizer.isActive, "skipped: a sanitizer keeps memory that is freed"),
        arguments: ["jpeg", "webp"]
    )
    func memory(format: String) async throws {
        let directory = try TemporaryDirectory(named: "scaling")
        let path = try writeImage(format == "jpeg" ? .jpeg : .webp, to: directory)
        await #expect(processExitsWith: .success) { [path = path as String] in
            let bytes = try FileSystem().contents(of: path)
            #expect(try ImageDecoder.header(of: bytes)?.size == PixelSize(width: 1_600, height: 1_200))
            let start = try CodecScalingTests.peakMemory()
            try CodecScalingTests.decode(bytes, to: CodecScalingTests.smallSize)
            let small = try CodecScalingTests.peakMemory() - start
            try CodecScalingTests.decode(bytes)
            let full = try CodecScalingTests.peakMemory() - start
            #expect(full > 4 * 1_600 * 1_200 * 9 / 10, "\(full) bytes")
            #expect(2 * small < full, "\(small) of \(full) bytes")
        }
    }
}
