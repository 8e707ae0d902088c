import EideticCore
import EideticStore
import EideticTestSupport
import Testing

@Suite("Disk cache: background tasks")
struct DiskBackgroundTaskTests {
    @Test("C17 one background task covers a burst of writes, from the first one queued to the last one done")
    func coversBurst() async throws {
        let (fixture, environment) = try Self.fixture()
        let cache = fixture.cache
        let gate = Gate()
        fixture.plan.before(.rename, pathContaining: "cache/") { gate.pass() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<50 { group.addTask { try await cache.insert([1], for: "\(index)") } }
            await gate.waitUntilReached()
            #expect(environment.log == ["begin 1"])
            gate.open()
            try await group.waitForAll()
        }
        #expect(environment.log.first == "begin 1")
        #expect(environment.openTasks == 0)
        #expect(environment.log.count <= 100)
        #expect(cache.usage.entryCount == 50)
    }

    @Test("C17 at expiry what is queued is not begun, what runs is finished, and the task is ended")
    func expiry() async throws {
        let (fixture, environment) = try Self.fixture()
        let cache = fixture.cache
        let gate = Gate()
        fixture.plan.before(.rename, pathContaining: "cache/") { gate.pass() }
        async let running: Void = cache.insert([1], for: "running")
        await gate.waitUntilReached()
        environment.expire()
        await #expect(throws: EideticError.self) { try await cache.insert([2], for: "late") }
        gate.open()
        try await running
        #expect(environment.log == ["begin 1", "end 1"])
        #expect(try cache.read("running")?.bytes == [1])
        #expect(try cache.read("late") == nil)
        try await cache.insert([3], for: "next")
        #expect(environment.log == ["begin 1", "end 1", "begin 2", "end 2"])
    }

    @Test("C11 C17 a trim is cut off between two steps when the time is used up")
    func stopsTrim() throws {
        let (fixture, environment) = try Self.fixture()
        for index in 0..<300 { try fixture.cache.write([1], for: "\(index)") }
        fixture.plan.before(.unlink, at: 70) { environment.expire() }
        let removed = try fixture.cache.trim(toSize: .zero)
        #expect(removed == 128)
        #expect(fixture.cache.usage.entryCount == 172)
        #expect(environment.openTasks == 0)
        #expect(fixture.cache.usage == (try fixture.measuredUsage()))
    }

    @Test("C11 expired entries go when the application leaves the foreground, within a background task")
    func sweep() async throws {
        let (fixture, environment) = try Self.fixture()
        for index in 0..<100 { try fixture.cache.write([1], for: "\(index)") }
        fixture.time.advance(by: .seconds(8 * 86_400))
        try fixture.cache.write([2], for: "young")
        let count = environment.log.count
        environment.enterBackground()
        await environment.waitForLog(count + 2)
        #expect(fixture.cache.usage.entryCount == 1)
        #expect(environment.openTasks == 0)
    }

    @Test("C18 after a restart of the machine the ledger is compared with the files, in the background")
    func reconcilesAfterRestart() async throws {
        let (fixture, environment) = try Self.fixture()
        for index in 0..<20 { try fixture.cache.write([1], for: "\(index)") }
        // A power cut has taken some files, and the records of another.
        for index in 0..<5 { try FileSystem().unlink(fixture.cache.path(for: "\(index)")) }
        let path = fixture.cache.configuration.directory + "/ledger"
        var ledger = Array(try FileSystem().contents(of: path).dropLast(64))
        ledger[20] ^= 0xff
        var sum = ledger.withUnsafeBytes { Checksum.value(of: UnsafeRawBufferPointer(rebasing: $0[..<56])) }
        for index in 56..<64 { ledger[index] = UInt8(truncatingIfNeeded: sum); sum >>= 8 }
        try ledger.withUnsafeBytes { try FileSystem().replaceContents(of: path, with: $0) }
        let count = environment.log.count
        let cache = try DiskCache(
            fixture.cache.configuration,
            fileSystem: FileSystem(),
            time: fixture.time,
            environment: environment
        )
        #expect(cache.usage.entryCount == 19)
        try cache.write([2], for: "new")
        await environment.waitForLog(count + 2)
        #expect(cache.usage == (try fixture.measuredUsage()))
        #expect(try fixture.secondCache().usage.entryCount == 16)
    }

    private static func fixture() throws -> (DiskFixture, RecordingEnvironment) {
        let environment = RecordingEnvironment()
        return (try DiskFixture(environment: environment), environment)
    }
}

/// Stops the first thread that passes until it is opened, and tells when it got there.
private final class Gate: Sendable {
    private let monitor = Monitor((isReached: false, isOpen: false))
    private let passes = AsyncStream.makeStream(of: Void.self)

    func pass() {
        monitor.withLock { $0.isReached = true }
        passes.continuation.yield()
        _ = monitor.wait { $0.isOpen ? true : nil }
    }

    func open() {
        monitor.withLock { $0.isOpen = true }
        monitor.broadcast()
    }

    func waitUntilReached() async {
        for await _ in passes.stream { return }
    }
}

/// Notes the background tasks that are taken, and expires them when it is told to.
private final class RecordingEnvironment: ApplicationEnvironment {
    private struct State {
        var log: [String] = []
        var handlers: [UInt64: @Sendable () -> Void] = [:]
        var last: UInt64 = 0
    }

    private let state = Guarded(State())
    private let changes = AsyncStream.makeStream(of: ApplicationPhase.self)
    private let lines = AsyncStream.makeStream(of: Int.self)

    var log: [String] { state.withLock { $0.log } }
    var openTasks: Int { state.withLock { $0.handlers.count } }
    var phases: AsyncStream<ApplicationPhase> { changes.stream }
    var memoryPressure: AsyncStream<MemoryPressure> { AsyncStream { $0.finish() } }

    func beginBackgroundTask(
        named name: String,
        expirationHandler: @escaping @Sendable () -> Void
    ) -> BackgroundTaskIdentifier {
        let number = state.withLock { state in
            state.last += 1
            state.handlers[state.last] = expirationHandler
            state.log.append("begin \(state.last)")
            return state.last
        }
        lines.continuation.yield(log.count)
        return BackgroundTaskIdentifier(rawValue: number)
    }

    func endBackgroundTask(_ identifier: BackgroundTaskIdentifier) {
        state.withLock { state in
            state.handlers[identifier.rawValue] = nil
            state.log.append("end \(identifier.rawValue)")
        }
        lines.continuation.yield(log.count)
    }

    func expire() {
        let handlers = state.withLock { Array($0.handlers.values) }
        for handler in handlers { handler() }
    }

    func enterBackground() { changes.continuation.yield(.background) }

    func waitForLog(_ count: Int) async {
        if log.count >= count { return }
        for await number in lines.stream where number >= count { return }
    }
}
