import EideticCore
import EideticStore
import EideticTestSupport
import Testing

@Suite("Disk cache: background tasks")
struct DiskBackgroundTaskTests {
    @Test("C17 one background task covers a burst of writes, from the first one queued to the last one finished")
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
        #expect(cache.blocking.usage.entryCount == 50)
    }

    @Test("C17 when the background time expires, queued work does not start, running work finishes, and the task ends")
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
        #expect(try cache.blocking.read("running")?.bytes == [1])
        #expect(try cache.blocking.read("late") == nil)
        try await cache.insert([3], for: "next")
        #expect(environment.log == ["begin 1", "end 1", "begin 2", "end 2"])
    }

    @Test("C11 C17 a trim stops between two batches when the background time expires")
    func stopsTrim() throws {
        let (fixture, environment) = try Self.fixture()
        for index in 0..<300 { try fixture.cache.blocking.insert([1], for: "\(index)") }
        fixture.plan.before(.unlink, at: 70) { environment.expire() }
        let removed = try fixture.cache.blocking.trim(toSize: .zero)
        #expect(removed == 128)
        #expect(fixture.cache.blocking.usage.entryCount == 172)
        #expect(environment.openTasks == 0)
        #expect(fixture.cache.blocking.usage == (try fixture.measuredUsage()))
    }

    @Test("C11 expired entries are removed in a background task when the application leaves the foreground")
    func sweep() async throws {
        let (fixture, environment) = try Self.fixture()
        for index in 0..<100 { try fixture.cache.blocking.insert([1], for: "\(index)") }
        fixture.time.advance(by: .seconds(8 * 86_400))
        try fixture.cache.blocking.insert([2], for: "young")
        let count = environment.log.count
        environment.enterBackground()
        await environment.waitForLog(count + 2)
        #expect(fixture.cache.blocking.usage.entryCount == 1)
        #expect(environment.openTasks == 0)
    }

    @Test("C18 after a restart of the machine, the ledger is reconciled with the files in the background")
    func reconcilesAfterRestart() async throws {
        let (fixture, environment) = try Self.fixture()
        for index in 0..<20 { try fixture.cache.blocking.insert([1], for: "\(index)") }
        // A power cut lost some files, and the record of another.
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
        #expect(cache.blocking.usage.entryCount == 19)
        try cache.blocking.insert([2], for: "new")
        await environment.waitForLog(count + 2)
        #expect(cache.blocking.usage == (try fixture.measuredUsage()))
        #expect(try fixture.secondCache().blocking.usage.entryCount == 16)
    }

    private static func fixture() throws -> (DiskFixture, RecordingEnvironment) {
        let environment = RecordingEnvironment()
        return (try DiskFixture(environment: environment), environment)
    }
}

/// A gate that stops threads until it is opened, and reports when one has reached it.
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

/// An environment that records background tasks, and expires them on request.
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
