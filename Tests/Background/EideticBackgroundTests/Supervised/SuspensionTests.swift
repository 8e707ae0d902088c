import EideticBackground
import EideticCore
import EideticSupervision
import EideticTestSupport
import Glibc
import EideticLifecycle
import Synchronization
import Testing

@Suite("Suspension by a supervisor", .timeLimit(.minutes(2)))
struct SuspensionTests {
    private let tests: SupervisedTests
    private var directory: TemporaryDirectory { tests.directory }

    init() throws { tests = try SupervisedTests() }

    @Test("B08 hundreds of changes while the process is stopped are one notice, before willEnterForeground")
    func coalesced() async throws {
        try directory.write([], to: "settings/app.conf")
        let settings = directory.path(of: "settings/app.conf")
        let (probe, supervisor) = try await tests.start(["--settings", settings, "--observe", "settingsChanged"])
        try await supervisor.greet()
        try await supervisor.activate()
        await probe.expectOutput("observes settingsChanged")
        try await supervisor.enterBackground()
        probe.process.kill(SIGSTOP)
        await probe.waitUntilStopped()
        for number in 0..<Torture.repetitions(200, full: 1_000) {
            try directory.write(Array("\(number)".utf8), to: "settings/app.conf")
        }
        // As a supervisor does it: the page, the messages, and only then the process.
        try supervisor.page.write(1, to: .suspensionCount)
        try supervisor.page.setPhase(.foreground, deadline: nil)
        try supervisor.send(.suspended(from: .seconds(1), to: .seconds(2)))
        let number = try supervisor.deliver(.willEnterForeground)
        probe.process.kill(SIGCONT)
        try await supervisor.expect("the acknowledgement") { $0 == .acknowledged(sequence: number) ? () : nil }
        await probe.expectOutput("willEnterForeground")
        let lines = probe.process.outputSoFar.split(separator: "\n").map(String.init)
        let notices = lines.filter { $0.hasPrefix("notice") }
        #expect(notices == ["notice settingsChanged \(settings) count 1"])
        let returned = try #require(lines.firstIndex { $0.hasPrefix("willEnterForeground") })
        #expect(try #require(lines.firstIndex { $0.hasPrefix("notice") }) < returned)
        probe.process.kill(SIGKILL)
    }

    @Test("B03 a task is granted only if the supervisor, after it has begun the expiration, counts it")
    func expirationRace() throws {
        let file = try SharedPageFile.create(
            at: directory.path(of: "race"),
            generation: 1,
            token: [UInt8](repeating: 0, count: 16)
        )
        let idleReports = Atomic<Int>(0)
        let table = BackgroundTaskTable { idleReports.add(1, ordering: .sequentiallyConsistent) }
        table.attach(try SharedPage(mapping: file.descriptor))
        let inside = Atomic<Int>(0)
        let isOver = Atomic<Bool>(false)
        let missed = Atomic<Int>(0)
        let threads = Monitor(4)
        for _ in 0..<4 {
            Thread.start(name: "storm") {
                while !isOver.load(ordering: .relaxed) {
                    let task = table.begin("storm", handler: .none)
                    guard task != 0 else { continue }
                    inside.add(1, ordering: .sequentiallyConsistent)
                    inside.subtract(1, ordering: .sequentiallyConsistent)
                    table.end(task)
                }
                threads.withLock { $0 -= 1 }
                threads.broadcast()
            }
        }
        for _ in 0..<Torture.repetitions(3_000, full: 100_000) {
            try file.setPhase(.expiring, deadline: nil)
            // Nothing is open and nothing can begin: what is inside now was not counted.
            if file.openTasks == 0, inside.load(ordering: .sequentiallyConsistent) != 0 {
                missed.add(1, ordering: .relaxed)
            }
            try file.setPhase(.background, deadline: nil)
        }
        isOver.store(true, ordering: .relaxed)
        threads.wait { $0 == 0 ? () : nil }
        #expect(missed.load(ordering: .relaxed) == 0)
        #expect(file.openTasks == 0 && table.count == 0)
    }

    @Test("B03 B04 the page decides whether tasks begin, and when the end of the last one is reported")
    func attachedTable() throws {
        let file = try SharedPageFile.create(at: directory.path(of: "table"), generation: 1, token: [])
        let reports = Atomic<Int>(0)
        let table = BackgroundTaskTable { reports.add(1, ordering: .relaxed) }
        let early = table.begin("before", handler: .none)
        table.attach(try SharedPage(mapping: file.descriptor))
        #expect(file.openTasks == 1)
        table.end(early)
        #expect(file.openTasks == 0 && reports.load(ordering: .relaxed) == 0)
        try file.setPhase(.background, deadline: .seconds(7))
        let task = table.begin("a", handler: .none)
        #expect(file.openTasks == 1 && table.deadline == .seconds(7) && reports.load(ordering: .relaxed) == 0)
        try file.requestIdleReport()
        table.end(task)
        #expect(file.openTasks == 0 && reports.load(ordering: .relaxed) == 1)
        // Once for each request.
        table.end(table.begin("b", handler: .none))
        #expect(reports.load(ordering: .relaxed) == 1)
        for phase in [TaskPhase.expiring, .terminating] {
            try file.setPhase(phase, deadline: nil)
            #expect(table.begin("late", handler: .none) == 0 && file.openTasks == 0)
        }
        table.detach(phase: .foreground)
        #expect(table.begin("alone", handler: .none) != 0 && file.openTasks == 0)
    }
}
