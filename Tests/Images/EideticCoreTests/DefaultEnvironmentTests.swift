import EideticCore
import EideticTestSupport
import Synchronization
import Testing

/// An application that counts its tasks, and sends phases and pressure when the test says so.
private final class RecordedApplication: ApplicationEnvironment {
    private struct State {
        var open: [UInt64: (name: String, handler: @Sendable () -> Void)] = [:]
        var beginCount: UInt64 = 0
        var phases: [AsyncStream<ApplicationPhase>.Continuation] = []
        var pressures: [AsyncStream<MemoryPressure>.Continuation] = []
    }

    private let state = Guarded(State())
    private let refusesTasks: Bool

    init(refusesTasks: Bool = false) { self.refusesTasks = refusesTasks }

    func beginBackgroundTask(
        named name: String,
        expirationHandler: @escaping @Sendable () -> Void
    ) -> BackgroundTaskIdentifier {
        guard !refusesTasks else { return .invalid }
        return state.withLock { state in
            state.beginCount += 1
            state.open[state.beginCount] = (name, expirationHandler)
            return BackgroundTaskIdentifier(rawValue: 1 << 32 | state.beginCount)
        }
    }

    func endBackgroundTask(_ identifier: BackgroundTaskIdentifier) {
        _ = state.withLock { $0.open.removeValue(forKey: identifier.rawValue & 0xffff_ffff) }
    }

    var phases: AsyncStream<ApplicationPhase> {
        AsyncStream { continuation in state.withLock { $0.phases.append(continuation) } }
    }

    var memoryPressure: AsyncStream<MemoryPressure> {
        AsyncStream { continuation in state.withLock { $0.pressures.append(continuation) } }
    }

    var openNames: [String] { state.withLock { $0.open.values.map(\.name).sorted() } }

    var beginCount: UInt64 { state.withLock { $0.beginCount } }

    func send(_ phase: ApplicationPhase) { for stream in state.withLock({ $0.phases }) { stream.yield(phase) } }

    func send(_ pressure: MemoryPressure) { for stream in state.withLock({ $0.pressures }) { stream.yield(pressure) } }

    func expireAll() { for task in state.withLock({ Array($0.open.values) }) { task.handler() } }
}

@Suite("The environment of what was given none", .timeLimit(.minutes(2)))
struct DefaultEnvironmentTests {
    private let environment = DefaultEnvironment()

    @Test("B16 tasks that are open when an application starts become its own, and expire with it")
    func adoptsTasks() {
        let expired = Atomic<Int>(0)
        let kept = environment.beginBackgroundTask(named: "kept") { expired.add(1, ordering: .relaxed) }
        let ended = environment.beginBackgroundTask(named: "ended") { expired.add(100, ordering: .relaxed) }
        #expect(kept != .invalid && ended != .invalid && kept != ended)
        environment.endBackgroundTask(ended)
        let application = RecordedApplication()
        #expect(environment.install(application))
        #expect(application.openNames == ["kept"] && application.beginCount == 1)
        application.expireAll()
        #expect(expired.load(ordering: .relaxed) == 1)
        environment.endBackgroundTask(kept)
        environment.endBackgroundTask(kept)
        environment.endBackgroundTask(.invalid)
        #expect(application.openNames.isEmpty)
    }

    @Test("B16 later tasks are the application's")
    func forwardsTasks() {
        let application = RecordedApplication()
        environment.install(application)
        let task = environment.beginBackgroundTask(named: "later") {}
        #expect(application.openNames == ["later"])
        environment.endBackgroundTask(task)
        #expect(application.openNames.isEmpty)
    }

    @Test("B16 a task that the application refuses to take over expires at once")
    func refusedTaskExpires() {
        let expired = Atomic<Int>(0)
        let task = environment.beginBackgroundTask(named: "refused") { expired.add(1, ordering: .relaxed) }
        environment.install(RecordedApplication(refusesTasks: true))
        #expect(expired.load(ordering: .relaxed) == 1)
        environment.endBackgroundTask(task)
        #expect(environment.beginBackgroundTask(named: "next") {} == .invalid)
    }

    @Test("B16 the first application stays the environment")
    func installsOnce() {
        let first = RecordedApplication(), second = RecordedApplication()
        #expect(environment.install(first))
        #expect(!environment.install(second))
        _ = environment.beginBackgroundTask(named: "task") {}
        #expect(first.openNames == ["task"] && second.openNames.isEmpty)
    }

    @Test("B16 streams that exist before the start, and later ones, have the application's phases and pressure")
    func connectsStreams() async {
        let (early, earlyPressure) = (environment.phases, environment.memoryPressure)
        // The values are received by an iterator that waits since before the start.
        async let received = Array(early.prefix(2))
        let application = RecordedApplication()
        environment.install(application)
        let late = environment.phases
        application.send(.background)
        application.send(.foreground)
        application.send(.critical)
        #expect(await received == [.background, .foreground])
        #expect(await Array(late.prefix(2)) == [.background, .foreground])
        #expect(await Array(earlyPressure.prefix(1)) == [.critical])
    }

    @Test("B16 a stream that ends before the start leaves nothing behind")
    func forgetsEndedStreams() async {
        let relay = StreamRelay<Int>()
        let consumer = Task { [stream = relay.stream()] in for await _ in stream {} }
        #expect(relay.waitingCount == 1)
        consumer.cancel()
        await consumer.value
        #expect(relay.waitingCount == 0)
        _ = relay.stream()
        #expect(relay.waitingCount == 0)
    }

    @Test("B16 no task is lost or left open when an application starts among many")
    func startsAmongMany() async {
        for _ in 0..<Torture.repetitions(100, full: 10_000) {
            let environment = DefaultEnvironment(), application = RecordedApplication()
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<50 {
                            environment.endBackgroundTask(environment.beginBackgroundTask(named: "short") {})
                        }
                    }
                }
                group.addTask { environment.install(application) }
            }
            #expect(application.openNames.isEmpty)
        }
    }
}

extension Array {
    /// Creates an array of the elements of a sequence that ends.
    fileprivate init<Source: AsyncSequence>(_ source: Source) async where Source.Element == Element {
        self.init()
        do { for try await element in source { append(element) } } catch { preconditionFailure("\(error)") }
    }
}
