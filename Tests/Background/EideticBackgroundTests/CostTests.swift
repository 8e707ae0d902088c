import EideticTestSupport
import Glibc
import Testing

@Suite("Cost of a background task", .timeLimit(.minutes(2)))
struct CostTests {
    /// A Boolean value indicating whether processes can be traced here.
    static let hasTracer = system("strace -f -o /dev/null true 2>/dev/null") == 0

    @Test(
        "B03 opening and ending a task makes no system call in the foreground",
        .enabled(if: hasTracer, "skipped: strace is not installed, or may not trace"),
        .disabled(if: Sanitizer.isActive, "skipped: a sanitizer makes calls of its own")
    )
    func noSystemCall() async throws {
        let arguments = ["-f", "-o", "/dev/stderr", ProbeProcess.path, "background", "--no-start", "--pairs", "200000"]
        let result = try await Subprocess.run("strace", arguments: arguments)
        #expect(result.status == .exited(0))
        let calls = result.errorText.split(separator: "\n").map(String.init)
        let begin = try #require(calls.firstIndex { $0.contains("write(1, \"pairs begin") }, "\(calls.suffix(20))")
        let end = try #require(calls.firstIndex { $0.contains("write(1, \"pairs end") })
        // Only the calls of the measuring thread; other threads may make calls meanwhile. "resumed" ends an earlier
        // call.
        let thread = calls[begin].prefix { $0 != " " } + " "
        let made = calls[(begin + 1)..<end].filter { $0.hasPrefix(thread) && !$0.contains("resumed>") }
        #expect(made.isEmpty, "\(made.prefix(20))")
    }

    @Test(
        "B03 a million tasks leak neither descriptors nor memory",
        .disabled(if: Sanitizer.isActive, "skipped: a sanitizer keeps memory of its own")
    )
    func noLeak() async throws {
        let result = try await Subprocess.run(
            ProbeProcess.path,
            arguments: ["background", "--no-start", "--pairs", "1000000"]
        )
        let words = result.outputText.split(whereSeparator: \.isWhitespace)
        func value(_ name: String) throws -> Int {
            let place = try #require(words.firstIndex { $0 == name }, "\(result.outputText)")
            return try #require(Int(words[place + 1]))
        }
        #expect(try value("descriptors") <= 2)
        // One byte per pair would be 977.
        #expect(try value("kilobytes") < 500)
    }
}
