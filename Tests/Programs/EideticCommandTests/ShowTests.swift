import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

@Suite("eidetic load --show", .timeLimit(.minutes(1)))
struct ShowTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory(named: "show") }

    private func show(_ image: Image, using how: String) async throws -> Subprocess.Result {
        let file = try directory.write(try ImageEncoder.encode(image, as: .png), to: "a.png")
        return try await EideticProgram.run(
            "load",
            "--show=\(how)",
            "--cache-dir",
            directory.path(of: "cache"),
            "file://\(file)"
        )
    }

    @Test("half blocks show two pixels a character")
    func blocks() async throws {
        let colors: [SIMD4<UInt8>] = [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [9, 9, 9, 255]]
        let image = try TestImages.image(width: 2, height: 2) { x, y in colors[2 * y + x] }
        let result = try await show(image, using: "blocks")
        #expect(result.status == .exited(0))
        let expected = "\u{1b}[38;2;255;0;0;48;2;0;0;255m▀\u{1b}[38;2;0;255;0;48;2;9;9;9m▀\u{1b}[0m\n"
        #expect(result.outputText.contains(expected))
    }

    @Test("kitty receives the unchanged pixels")
    func kitty() async throws {
        let image = try TestImages.gradient(width: 60, height: 40)
        let text = try await show(image, using: "kitty").outputText
        #expect(text.contains("\u{1b}_Ga=T,q=2,f=32,s=60,v=40,m=1;"))
        let pieces = text.split(separator: "\u{1b}_G").dropFirst().map { piece in
            piece.prefix { $0 != "\u{1b}" }.split(separator: ";")[1]
        }
        #expect(pieces.allSatisfy { $0.count <= 4_096 })
        let decoded = try await Subprocess.run("base64", arguments: ["-d"], input: Array(pieces.joined().utf8))
        #expect(decoded.output == image.pixels.withUnsafeBytes { Array($0) })
    }

    @Test("sixels show the image's colours")
    func sixel() async throws {
        let image = try TestImages.gradient(width: 64, height: 48)
        let result = try await show(image, using: "sixel")
        let sixels = try SixelImage(result.outputText)
        #expect(sixels.width == 64 && sixels.height == 48)
        var error = 0.0
        for y in 0..<48 {
            for x in 0..<64 {
                let (expected, color) = (image.pixels[x, y], try #require(sixels.colors[SIMD2(x, y)]))
                for channel in 0..<3 { error += abs(Double(expected[channel]) - color[channel]) }
            }
        }
        #expect(error / (64 * 48 * 3) < 6)
    }

    @Test("a large image is fitted to the terminal")
    func fits() async throws {
        let result = try await show(try TestImages.gradient(width: 500, height: 400), using: "blocks")
        let lines = result.outputText.split(separator: "\n").filter { $0.contains("▀") }
        #expect(lines.count == 21)
        #expect(lines.allSatisfy { $0.count { $0 == "▀" } <= 80 })
    }
}
