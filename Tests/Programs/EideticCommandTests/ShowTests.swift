import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

@Suite("eidetic load --show", .timeLimit(.minutes(1)))
struct ShowTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory(named: "show") }

    private func show(
        _ image: Image,
        using how: String,
        environment: [String: String?] = [:]
    ) async throws -> Subprocess.Result {
        let file = try directory.write(try ImageEncoder.encode(image, as: .png), to: "a.png")
        return try await EideticProgram.run(
            "load",
            "--show=\(how)",
            "--cache-dir",
            directory.path(of: "cache"),
            "file://\(file)",
            environment: environment
        )
    }

    /// Two columns and one row of cells, each half of one colour.
    private func halves() throws -> Image {
        try TestImages.image(width: 16, height: 16) { _, y in y < 8 ? [250, 0, 0, 255] : [0, 0, 250, 255] }
    }

    @Test("blocks show an image's colours, two in a character")
    func blocks() async throws {
        let result = try await show(try halves(), using: "blocks")
        #expect(result.status == .exited(0), "\(result.errorText)")
        let cells = result.outputText.split(separator: "\n").filter { $0.contains("▀") || $0.contains("▄") }
        #expect(cells.count == 1 && cells.first?.count { "▀▄".contains($0) } == 2, "\(cells)")
        // The colour of one half is that of the character, of the other one that of its background.
        // libchafa 1.14 makes 249 of 250.
        let colors = (cells.first ?? "").matches(of: /[34]8;2;(\d+);(\d+);(\d+)/)
            .map { [$0.1, $0.2, $0.3].map { $0 == "249" ? "250" : String($0) } }
        #expect(Set(colors) == [["250", "0", "0"], ["0", "0", "250"]], "\(colors)")
    }

    @Test("kitty receives the pixels of an image that fits")
    func kitty() async throws {
        let image = try TestImages.gradient(width: 64, height: 48)
        let text = try await show(image, using: "kitty").outputText
        let first = try #require(text.firstMatch(of: /\x1b_Ga=T,f=32,s=(\d+),v=(\d+),c=(\d+),r=(\d+)/))
        #expect([first.1, first.2, first.3, first.4] == ["64", "48", "8", "3"])
        let pieces = text.split(separator: "\u{1b}_G").compactMap { piece -> Substring? in
            piece.hasPrefix("m=") ? piece.dropFirst(4).prefix { $0 != "\u{1b}" } : nil
        }
        let decoded = try await Subprocess.run("base64", arguments: ["-d"], input: Array(pieces.joined().utf8))
        let expected = image.pixels.withUnsafeBytes { Array($0) }
        try #require(decoded.output.count == expected.count)
        // libchafa 1.12 scales also to the same size; the alpha of some pixels at the edge is then 243 instead of 255.
        let largest = zip(decoded.output, expected).map { abs(Int($0) - Int($1)) }.max() ?? 255
        #expect(largest <= 12)
    }

    @Test("sixels have the size of the image and its colours")
    func sixel() async throws {
        let text = try await show(try halves(), using: "sixel").outputText
        #expect(text.contains("\u{1b}P0;1;0q\"1;1;16;"))
        // Red, green and blue in percent.
        let colors = text.matches(of: /#\d+;2;(\d+);(\d+);(\d+)/).map { [Int($0.1), Int($0.2), Int($0.3)] }
        #expect(colors.contains([98, 0, 0]) && colors.contains([0, 0, 98]), "\(colors)")
    }

    @Test("a large image is fitted to the terminal")
    func fits() async throws {
        let result = try await show(try TestImages.gradient(width: 2_000, height: 1_600), using: "blocks")
        let lines = result.outputText.split(separator: "\n").filter { $0.contains("\u{1b}[38;2;") }
        #expect(lines.count == 21)
        let widths = lines.map { $0.replacing(/\x1b\[[0-9;]*m/, with: "").count }
        #expect(widths.allSatisfy { (50...54).contains($0) }, "\(widths)")
    }

    @Test("without libchafa nothing is loaded, and the message names the package to install")
    func missingLibrary() async throws {
        try directory.write([], to: "libchafa.so.0")
        let environment = ["LD_LIBRARY_PATH": directory.path]
        let result = try await show(try halves(), using: "blocks", environment: environment)
        #expect(result.status == .exited(1))
        #expect(result.errorText.contains("--show needs libchafa (Debian: apt install libchafa0): "))
        #expect(result.outputText.isEmpty)
    }
}
