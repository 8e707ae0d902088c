import EideticTestSupport
import Testing

@Suite("What a background task costs", .timeLimit(.minutes(2)))
struct CostTests {
    static let hasTracer = Subprocess.find("strace") != nil

    private func systemCalls(_ pairs: Int) async throws -> Int {
        let arguments = ["-f", "-o", "/dev/stderr", ProbeProcess.path, "--no-start", "--pairs", "\(pairs)"]
        let result = try await Subprocess.run("strace", arguments)
        #expect(result.outputText.contains("pairs \(pairs)"))
        return result.errorText.split(separator: "\n").count
    }

    @Test(
        "B03 begin and end make no system call in the foreground",
        .enabled(if: hasTracer, "skipped: strace is not installed")
    )
    func noSystemCall() async throws {
        let few = try await systemCalls(10)
        let many = try await systemCalls(200_000)
        // Loading differs by some dozens of calls from run to run; one in a thousand pairs would be 200.
        #expect(abs(many - few) < 150, "\(few) calls with 10 pairs, \(many) with 200,000")
    }

    @Test("B03 a million begins and ends leave nothing behind")
    func noLeak() async throws {
        let result = try await Subprocess.run(ProbeProcess.path, ["--no-start", "--pairs", "1000000"])
        let words = result.outputText.split(whereSeparator: \.isWhitespace)
        #expect(words.count == 6, "\(result)")
        #expect(try #require(Int(words[3])) < 10)
        // Code that is paged in, and the kernel's own counting, make up to 150 pages; a byte for each pair would be 244 more.
        #expect(try #require(Int(words[5])) < 350)
    }
}
