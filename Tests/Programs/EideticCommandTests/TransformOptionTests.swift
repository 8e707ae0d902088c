import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

@Suite("Options that change pixels", .timeLimit(.minutes(1)))
struct TransformOptionTests {
    private func run(_ words: [String], input: [UInt8] = []) async throws -> Subprocess.Result {
        try await Subprocess.run(EideticProgram.path, arguments: words, input: input)
    }

    /// Converts a gradient of 64 × 48 pixels to PNG.
    private func convert(_ options: String...) async throws -> Image {
        let input = try TestImages.encoded(as: .png)
        let result = try await run(["convert"] + options + ["-", "-"], input: input)
        try #require(result.status == .exited(0), "\(result.errorText)")
        return try ImageDecoder.decode(result.output)
    }

    @Test("F06 --size fits, --fill crops around --focus, --stretch distorts")
    func modes() async throws {
        #expect(try await convert("--size", "24x24").size == PixelSize(width: 24, height: 18))
        let middle = try await convert("--size", "24x24", "--fill")
        let left = try await convert("--size", "24x24", "--fill", "--focus", "0,0.5")
        #expect(middle.size == PixelSize(width: 24, height: 24) && left.size == middle.size)
        #expect(left.pixels[0, 0].x < 10 && middle.pixels[0, 0].x > 25)
        #expect(try await convert("--size", "10x40", "--stretch").size == PixelSize(width: 10, height: 40))
        #expect(try await convert("--size", "24x", "--fill").size == PixelSize(width: 24, height: 18))
    }

    @Test("F06 --crop comes before --size, --transform in their order after it, --round last")
    func order() async throws {
        let image = try await convert(
            "--round",
            "4",
            "--transform",
            "rotate=90",
            "--transform=grayscale",
            "--size",
            "10x10",
            "--crop",
            "20x10+30+0"
        )
        #expect(image.size == PixelSize(width: 5, height: 10))
        #expect(image.pixels[0, 0].w < 100)
        let pixel = image.pixels[2, 5]
        #expect(pixel.x == pixel.y && pixel.w == 255)
    }

    @Test(
        "F06 each transform is a word",
        arguments: [
            ("resize=32x32,fillCropped", 32, 32), ("resize=32x32,fill", 43, 32), ("crop=10x20+1+2", 10, 20),
            ("round=8", 64, 48), ("circle", 48, 48),
            ("border=2,#ff0000", 64, 48), ("rotate=-90", 48, 64), ("flip", 64, 48), ("flip=vertical", 64, 48),
            ("tint=#ff000080", 64, 48), ("grayscale", 64, 48), ("blur", 64, 48), ("blur=2.5", 64, 48),
            ("sharpen=0.5", 64, 48),
        ]
    )
    func words(word: String, width: Int, height: Int) async throws {
        let image = try await convert("--transform", word)
        #expect(image.size == PixelSize(width: width, height: height))
        #expect(
            image.pixels.withUnsafeBytes { Array($0) } != (try await convert().pixels.withUnsafeBytes { Array($0) })
        )
    }

    @Test(
        "F06 invalid changes are refused",
        arguments: [
            ["--fill"], ["--focus", "0,0", "--size", "9x9"], ["--size", "9x9", "--fill", "--stretch"],
            ["--transform", "blur=x"],
            ["--transform", "round"], ["--transform", "nothing"], ["--transform", "crop=1x1"], ["--crop", "0x4+1+1"],
            ["--focus", "2,0", "--fill", "--size", "9x9"], ["--transform", "tint=red"], ["--round", "-1"],
        ]
    )
    func refused(_ options: [String]) async throws {
        let result = try await run(["convert"] + options + ["-", "-"])
        #expect(result.status == .exited(2))
        #expect(result.output.isEmpty && !result.errorText.isEmpty)
    }

    @Test("F06 L26 load makes thumbnails in one line: filled, with round corners, in another format")
    func thumbnails() async throws {
        let directory = try TemporaryDirectory(named: "thumbnails")
        let urls = try (0..<3).map { index in
            "file://" + (try directory.write(try TestImages.encoded(as: .jpeg), to: "\(index).jpg"))
        }
        let base = ["load", "--cache-dir", directory.path(of: "cache"), "--size", "40x40", "--fill"]
        let words = base + ["--round", "12", "--format", "webp", "--out", directory.path(of: "out")] + urls
        let result = try await run(words)
        #expect(result.status == .exited(0), "\(result.errorText)")
        for index in 0..<3 {
            let image = try ImageDecoder.decode(try directory.contents(of: "out/\(index).webp"))
            #expect(image.format == .webp && image.size == PixelSize(width: 40, height: 40))
            #expect(image.pixels[0, 0].w == 0 && image.pixels[20, 20].w == 255)
        }
        // Round corners of a JPEG image need a format with alpha.
        let other = base + ["--round", "12", "--out", directory.path(of: "other"), urls[0]]
        #expect(try await run(other).status == .exited(0))
        #expect(try ImageDecoder.decode(try directory.contents(of: "other/0.png")).pixels[0, 0].w == 0)
    }
}
