import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("Heavy use of the processor in the background", .serialized, .timeLimit(.minutes(5)))
struct ProcessorTests {
    @Test("B22 more than the share in one window slows down, in the next one it calls in; no more gives back")
    func rules() {
        var use = ProcessorUse(limit: 80, window: .seconds(60))
        var (now, used): (Duration, Duration) = (.seconds(100), .seconds(7))
        func window(_ percent: Int) -> ProcessorUse.Decision? {
            (now, used) = (now + .seconds(60), used + .milliseconds(600 * percent))
            return use.record(used: used, at: now)
        }
        #expect(use.record(used: used, at: now) == nil)
        #expect(use.record(used: used + .seconds(59), at: now + .seconds(59)) == nil)
        #expect(window(79) == nil && window(80) == nil)
        #expect(window(81) == .slowDown(percent: 81) && window(80) == .restore && window(10) == nil)
        #expect(window(200) == .slowDown(percent: 200) && window(99) == .callIn(percent: 99))
        use.reset()
        #expect(window(100) == nil && window(100) == .slowDown(percent: 100))
        // Processes that have ended take their time along.
        used = .zero
        #expect(use.record(used: .zero, at: now + .seconds(60)) == .restore)
    }

    @Test(
        "B22 an application that uses a processor in the background is slowed down, then called in, and why tells",
        arguments: ControlGroups.kinds
    )
    func busy(kind: FreezerKind) async throws {
        let daemon = try await Daemon(
            kind,
            ["--limit", "idle=5", "--limit", "processor=600", "--processor-share", "2"]
        )
        var program = ProgramDescription(executable: Daemon.probe)
        program.arguments = ["background", "--busy"]
        program.environment = ["PATH=/usr/bin:/bin"]
        try daemon.perform(.install(identifier: "app", program: program))
        try daemon.perform(.launch(identifier: "app", url: nil, inBackground: false))
        await daemon.expectState(.active, of: "app")
        try daemon.perform(.background(identifier: "app"))
        var slowedDown: [String] = []
        #expect(
            await daemon.waitForStatuses { _ in
                slowedDown =
                    (try? daemon.lines(.explain(identifier: "app")))?.filter { $0.contains("slowed down") } ?? []
                return !slowedDown.isEmpty
            }
        )
        print(slowedDown.joined())
        // The task expires long before the 600 s of its budget.
        await daemon.expectOutput("expired busy")
        await daemon.expectState(.suspended, of: "app")
        #expect(try daemon.lines(.explain(identifier: "app")).contains { $0.contains("called in early") })
        #expect(try daemon.lines(.log(identifier: "app", count: 50)).contains { $0.contains("called in early") })
        try await daemon.resume("app")
        #expect(try !daemon.lines(.explain(identifier: "app")).contains { $0.contains("called in early") })
        await daemon.finish()
    }
}
