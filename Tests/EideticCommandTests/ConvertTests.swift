import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

@Suite("eidetic convert", .timeLimit(.minutes(1)))
struct ConvertTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory(named: "convert") }

    @Test("F05 the output's extension determines its format, --size fits the image into that size")
    func converts() async throws {
        let source = try directory.write(try TestImages.encoded(as: .png), to: "in")
        let target = directory.path(of: "out.jpg")
        let result = try await EideticProgram.run("convert", "--size", "32x32", source, target)
        #expect(result.status == .exited(0))
        #expect(result.errorText == "")
        let image = try ImageDecoder.decode(try directory.contents(of: "out.jpg"))
        #expect(image.format == .jpeg)
        #expect(image.size == PixelSize(width: 32, height: 24))
        #expect(try FileSystem().entryNames(in: directory.path).sorted() == ["in", "out.jpg"])
    }

    @Test("F05 converting PNG to PNG keeps the pixels")
    func isExact() async throws {
        let source = try TestImages.encoded(as: .png)
        let result = try await EideticProgram.run("convert", "-", "-", input: source)
        #expect(result.status == .exited(0))
        let (before, after) = (try ImageDecoder.decode(source), try ImageDecoder.decode(result.output))
        #expect(after.format == .png)
        #expect(before.pixels.withUnsafeBytes { Array($0) } == after.pixels.withUnsafeBytes { Array($0) })
    }

    @Test("F05 an animation keeps its frames as GIF, and is not written in other formats but for its first frame")
    func animations() async throws {
        let source = try directory.write(try TestImages.animation(frameCount: 3), to: "in.gif")
        let gif = directory.path(of: "out.gif"), webp = directory.path(of: "out.webp")
        #expect(try await EideticProgram.run("convert", "--size", "32x32", source, gif).status == .exited(0))
        #expect(try ImageDecoder.header(of: try directory.contents(of: "out.gif"))?.frameCount == 3)
        let refused = try await EideticProgram.run("convert", source, webp)
        #expect(refused.status == .exited(1))
        #expect(refused.errorText.hasSuffix("an animation cannot be written as WebP; use GIF, or --first-frame\n"))
        #expect((try? directory.contents(of: "out.webp")) == nil)
        #expect(try await EideticProgram.run("convert", "--first-frame", source, webp).status == .exited(0))
        #expect(try ImageDecoder.header(of: try directory.contents(of: "out.webp"))?.frameCount == 1)
    }

    @Test("F05 a lower quality makes a smaller file")
    func quality() async throws {
        let source = try TestImages.encoded(as: .png, width: 400, height: 300)
        let low = try await EideticProgram.run("convert", "--format=jpeg", "--quality", "10", "-", "-", input: source)
        let high = try await EideticProgram.run("convert", "--format=jpeg", "--quality", "95", "-", "-", input: source)
        #expect(low.status == .exited(0))
        #expect(low.output.count < high.output.count)
    }

    @Test(
        "a failed conversion leaves no file and reports the reason",
        arguments: [
            ("in.png", "out.xyz", Int32(2), "has no known file extension"),
            ("in.png", "none/out.png", 1, "none/out.png: No such file or directory"),
            ("text", "out.png", 1, "text: "),
            ("cut.png", "out.png", 1, "cut.png: "),
            ("missing", "out.png", 1, "missing: No such file or directory"),
        ]
    )
    func fails(_ source: String, target: String, status: Int32, message: String) async throws {
        try directory.write(try TestImages.encoded(as: .png), to: "in.png")
        try directory.write(Array(try TestImages.encoded(as: .png).prefix(60)), to: "cut.png")
        try directory.write(Array("not an image".utf8), to: "text")
        let words = ["convert", source, target]
        let result = try await Subprocess.run(EideticProgram.path, arguments: words, directory: directory.path)
        #expect(result.status == .exited(status))
        #expect(result.errorText.contains(message))
        #expect(try FileSystem().entryNames(in: directory.path).sorted() == ["cut.png", "in.png", "text"])
    }
}
