import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

private let hasBrowser = ["chromium-headless-shell", "chromium"].contains { Subprocess.executablePath(for: $0) != nil }

/// Whole files next to what Chromium shows, by the script that does so for any directory.
@Suite("Against a browser", .enabled(if: hasBrowser, "Chromium is not installed"), .timeLimit(.minutes(10)))
struct BrowserTests {
    /// Returns the line with the counts of a comparison.
    private func counts(of images: String, output: String) async throws -> String {
        let script =
            #filePath.split(separator: "/").dropLast(4).reduce("") { "\($0)/\($1)" } + "/script/compare-with-chromium"
        let words = ["--command", EideticProgram.path, "--out", output, images]
        let result = try await Subprocess.run(script, arguments: words)
        #expect(result.status == .exited(0), "\(result.errorText)")
        return result.outputText
    }

    @Test("F02 files of all formats that Chromium shows are shown, and alike") func formats() async throws {
        let directory = try TemporaryDirectory()
        var files: [(name: String, bytes: [UInt8])] = [
            ("beside.png", TestImages.animationBesideImage), ("grey.png", TestImages.greyPixelPNG),
            ("frames.gif", try TestImages.animation(frameCount: 3)),
            ("background.svg", Array("<svg xmlns='http://www.w3.org/2000/svg' style='background:#07f'/>".utf8)),
        ]
        for format in [ImageFormat.png, .jpeg, .webp, .gif, .avif]
        where ImageEncoder.supportedFormats.contains(format) {
            files.append(("gradient.\(format)", try TestImages.encoded(as: format)))
        }
        files.removeAll { $0.name.hasSuffix("svg") && !ImageDecoder.supportedFormats.contains(.svg) }
        for (name, bytes) in files { try directory.write(bytes, to: "images/\(name)") }
        let counts = try await counts(of: directory.path(of: "images"), output: directory.path(of: "out"))
        let count = files.count
        #expect(counts.contains("\(count) of \(count) files are shown by the browser: \(count) agree;"), "\(counts)")
    }

    @Test("F02 each PNG of a test suite that Chromium shows is shown, and alike", .needsCorpus)
    func suite() async throws {
        let directory = try TemporaryDirectory()
        let counts = try await counts(of: "\(Corpus.directory ?? "")/pngsuite", output: directory.path(of: "out"))
        #expect(counts.contains("agree; of the others 0 refused, 0 size, 0 pixels; 0 too large"), "\(counts)")
        #expect(!counts.hasPrefix("0 of"))
    }
}
