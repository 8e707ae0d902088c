import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import EideticLifecycle
import Testing

@Suite("Applications that say falsely that the user has started work", .serialized, .timeLimit(.minutes(2)))
struct FalseWorkTests {
    /// A limit for work without progress that these tests do not reach.
    private static let patient = ["--limit", "idle=10", "--limit", "progress=3600000"]

    private func works(of name: String, in daemon: Daemon) throws -> [String] {
        try daemon.lines(.explain(identifier: name)).filter { $0.hasPrefix("continues what the user has started: ") }
    }

    @Test("B06 B10 of twenty works that begin at once, each of them twice, eight count")
    func repeated() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.patient + ["--message-rate", "1000"])
        try await daemon.launchInForeground("one", ["--works", "20"])
        try daemon.perform(.background(identifier: "one"))
        await daemon.expectState(.background, of: "one")
        let expected = (0..<8).map { "continues what the user has started: Work \($0), 0 %, stopped in 3" }
        let works = try works(of: "one", in: daemon)
        #expect(works.count == 8 && zip(works, expected).allSatisfy { $0.hasPrefix($1) }, "\(works)")
        await daemon.finish()
    }

    @Test(
        "B06 B10 work that is named in the background as that of an earlier supervisor does not prevent suspension",
        arguments: ControlGroups.kinds
    )
    func unknown(kind: FreezerKind) async throws {
        let daemon = try await Daemon(kind, Self.patient)
        try await daemon.launchInForeground("one", ["--resumed-works", "3"])
        try await daemon.suspend("one")
        let log = try daemon.lines(.log(identifier: "one", count: 20))
        #expect(log.count { $0.contains("was not begun in the foreground") } == 3, "\(log)")
        #expect(try works(of: "one", in: daemon).isEmpty)
        await daemon.finish()
    }

    @Test(
        "B08 B10 the next supervisor does not believe in work that the record of the earlier one does not know",
        arguments: ControlGroups.kinds
    )
    func claimed(kind: FreezerKind) async throws {
        let daemon = try await Daemon(kind, Self.patient)
        try await daemon.launchInForeground("one", ["--claim-work"])
        try await daemon.replace()
        await daemon.expectOutput("one welcome 2")
        try await daemon.suspend("one")
        await daemon.finish()
    }

    @Test("B08 B10 work that no message names to the next supervisor prevents suspension for the limit of its progress")
    func unnamed() async throws {
        let limits = ["--limit", "idle=10", "--limit", "progress=1500"]
        let daemon = try await Daemon(ControlGroups.kinds[0], limits)
        try await daemon.launchInForeground("one", ["--works", "1", "--claim-work"])
        await daemon.waitForStatuses { _ in
            (try? works(of: "one", in: daemon))?.count == 1
        }
        await daemon.kill()
        try await daemon.start(limits)
        await daemon.expectOutput("one welcome 2")
        try await daemon.suspend("one")
        let log = try daemon.lines(.log(identifier: "one", count: 20))
        #expect(log.contains { $0.contains("was not named for 1.5 s") }, "\(log)")
        await daemon.finish()
    }
}
