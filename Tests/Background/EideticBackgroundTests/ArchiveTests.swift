import EideticTestSupport
import Glibc
import Testing

@Suite("Saved state", .timeLimit(.minutes(1)))
struct ArchiveTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory(named: "archive") }

    private func run(_ arguments: [String] = [], ends: Bool = true) async throws -> (lines: [String], errors: String) {
        let options = ["--identifier", "org.example.probe", "--state-directory", directory.path]
        let probe = try ProbeProcess(options + arguments)
        if ends {
            await probe.expectOutput("didBecomeActive")
            probe.process.kill(SIGTERM)
        }
        let end = await probe.finish()
        return (end.lines, end.errors)
    }

    @Test("B16 state that is saved on entering the background is restored at the next launch")
    func savedAndOffered() async throws {
        #expect(try await run(["--archive", "page 7"]).lines.contains { $0.hasPrefix("archive") } == false)
        #expect(try await run().lines.first { $0.hasPrefix("archive") } == "archive page 7")
        #expect(try await run().lines.contains("archive page 7"))
    }

    @Test("B16 a crash during launch deletes the saved state")
    func deletedAfterCrash() async throws {
        _ = try await run(["--archive", "bad"])
        _ = try await run(["--crash-at-launch"], ends: false)
        #expect(try await run().lines.contains { $0.hasPrefix("archive") } == false)
        _ = try await run(["--archive", "good"])
        #expect(try await run().lines.contains("archive good"))
    }

    @Test("B05 the report of a kill is available at the next launch, once")
    func reportIsRead() async throws {
        let arguments = ["--hang", "didEnterBackground=30000", "--background-limit", "300", "--task", "upload=-1"]
        #expect(try await run(arguments).errors.contains("0x8badf00d"))
        let report = try await run().lines.first { $0.hasPrefix("report") } ?? ""
        #expect(report.contains("0x8badf00d") && report.contains("upload"))
        #expect(try await run().lines.contains { $0.hasPrefix("report") } == false)
    }
}
