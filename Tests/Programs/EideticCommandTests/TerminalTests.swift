import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

@Suite("eidetic load on a terminal", .needsNginx, .timeLimit(.minutes(1)))
struct TerminalTests {
    static let scriptInstalled = Subprocess.executablePath(for: "script") != nil

    /// Runs the program on a separate terminal with 60 columns.
    private static func runOnTerminal(
        _ command: String,
        environment: [String: String] = [:]
    ) async throws -> Subprocess.Result {
        let line = "stty cols 60 rows 20; exec '\(EideticProgram.path)' \(command)"
        return try await Subprocess.run(
            "script",
            arguments: ["-qec", line, "/dev/null"],
            environment: ["TERM": "xterm-256color", "TMUX": nil, "KITTY_WINDOW_ID": nil, "TERM_PROGRAM": nil]
                .merging(environment) { $1 }
        )
    }

    @Test(
        "progress is one line, no wider than the terminal, and redrawn in place",
        .enabled(if: scriptInstalled, "script is not installed")
    )
    func progress() async throws {
        let server = try await Nginx(.init(server: "location = /slow.png { limit_rate 8k; }"))
        let directory = try TemporaryDirectory(named: "terminal")
        let good = try server.addFile(try TestImages.encoded(as: .png), at: "good.png")
        let noise = try TestImages.image(width: 90, height: 90) { _, _ in
            SIMD4(.random(in: 0...255), .random(in: 0...255), .random(in: 0...255), 255)
        }
        let slow = try server.addFile(try ImageEncoder.encode(noise, as: .png), at: "slow.png")
        let result = try await Self.runOnTerminal(
            "load --cache-dir \(directory.path) \(good) \(slow) \(server.url)/none"
        )
        #expect(result.status == .exited(1))
        let redraws = result.outputText.split(separator: "\r\u{1b}[J").dropFirst()
        let bars = redraws.compactMap { $0.split(whereSeparator: \.isNewline).last }.filter { $0.contains("/3  ") }
        #expect(!bars.isEmpty)
        #expect(bars.allSatisfy { $0.count < 60 })
        #expect(bars.contains { $0.contains("left") && $0.contains("/s  ") })
        #expect(result.outputText.contains("2 of 3 images loaded: 2 from network; 1 failed"))
    }

    @Test(
        "F05 converting many files shows their number on a terminal",
        .enabled(if: scriptInstalled, "script is not installed")
    )
    func conversion() async throws {
        let directory = try TemporaryDirectory(named: "terminal")
        let files = try (0..<3).map { try directory.write(try TestImages.encoded(as: .png), to: "\($0).png") }
        let words = ["convert", "--format", "webp", "--out", directory.path(of: "out")] + files
        let output = try await Self.runOnTerminal(words.joined(separator: " ")).outputText
        #expect((1...3).allSatisfy { output.contains("\($0) of 3") })
        #expect(output.contains("3 of 3 images converted; "))
    }

    @Test("without a terminal the output consists of plain lines")
    func plain() async throws {
        let server = try await Nginx()
        let directory = try TemporaryDirectory(named: "terminal")
        let url = try server.addFile(try TestImages.encoded(as: .png), at: "a.png")
        let result = try await EideticProgram.run("load", "--cache-dir", directory.path, url)
        #expect(result.errorText == "")
        #expect(!result.outputText.contains("\u{1b}") && !result.outputText.contains("\r"))
        let lines = result.outputText.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.first?.hasPrefix("network  PNG         64x48") == true)
        #expect(lines.first?.hasSuffix(url) == true)
    }

    @Test(
        "the environment tells which graphics the terminal has",
        .enabled(if: scriptInstalled, "script is not installed"),
        arguments: [
            (["TERM": "xterm-kitty"], "\u{1b}_Ga=T"), (["TERM": "mlterm"], "\u{1b}P0;1;0q"), ([:], "\u{1b}[38;2;"),
        ]
    )
    func detection(_ environment: [String: String], expectedStart beginning: String) async throws {
        let server = try await Nginx()
        let directory = try TemporaryDirectory(named: "terminal")
        let url = try server.addFile(try TestImages.encoded(as: .png), at: "a.png")
        let result = try await Self.runOnTerminal(
            "load --show --cache-dir \(directory.path) \(url)",
            environment: environment
        )
        #expect(result.outputText.contains(beginning), "\(result.outputText)")
    }
}
