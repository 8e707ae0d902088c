import EideticCore
import EideticStore
import EideticTestSupport
import Testing

@Suite("Disk cache: background tasks")
struct DiskBackgroundTaskTests {
    @Test("C17 one background task covers a burst of writes, from the call of the first one to the end of the last one")
    @MainActor func coversBurst() async throws {
        let (fixture, environment) = try Self.fixture()
        let cache = fixture.cache
        let gate = Gate()
        fixture.plan.before(.rename, pathContaining: "cache/") { gate.block() }
        // Each call returns to this actor only when it is suspended.
        let writes = (0..<50).map { index in Task.immediate { try await cache.insert([1], for: "\(index)") } }
        #expect(environment.log == ["begin 1"])
        gate.open()
        for write in writes { try await write.value }
        #expect(environment.log == ["begin 1", "end 1"])
        #expect(cache.blocking.usage.entryCount == 50)
    }

    @Test("C17 when the background time expires, queued work does not start, running work finishes, and the task ends")
    func expiry() async throws {
        let (fixture, environment) = try Self.fixture()
        let cache = fixture.cache
        let gate = Gate(), renameReached = Gate()
        fixture.plan.before(.rename, pathContaining: "cache/") {
            renameReached.open()
            gate.block()
        }
        async let running: Void = cache.insert([1], for: "running")
        await renameReached.wait()
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
        try FileSystem().replaceContents(of: path, with: ledger)
        let count = environment.log.count
        let cache = try DiskCache(
            fixture.cache.configuration,
            fileSystem: FileSystem(),
            time: fixture.time,
            environment: environment
        )
        #expect(cache.blocking.usage.entryCount == 19)
        try cache.blocking.insert([2], for: "new")
        // The opening, the usage, and the write with the comparison.
        await environment.waitForLog(count + 6)
        #expect(cache.blocking.usage == (try fixture.measuredUsage()))
        #expect(try fixture.secondCache().blocking.usage.entryCount == 16)
    }

    @Test("C11 C17 a sweep by age stops between two batches when the background time expires")
    func stopsSweep() throws {
        let (fixture, environment) = try Self.fixture()
        for index in 0..<300 { try fixture.cache.blocking.insert([1], for: "\(index)") }
        fixture.plan.before(.unlink, at: 70) { environment.expire() }
        #expect(try fixture.cache.blocking.sweep(downTo: .zero).evictedCount == 128)
        #expect(fixture.cache.blocking.usage.entryCount == 172)
        #expect(environment.openTasks == 0)
    }

    @Test("C17 a write is refused in its call when the background time has expired, and writes nothing")
    func refused() async throws {
        let (fixture, environment) = try Self.fixture()
        environment.exhaust()
        fixture.plan.resetCalls()
        await #expect(throws: EideticError.self) { try await fixture.cache.insert([1], for: "a") }
        #expect(fixture.plan.calls.isEmpty)
        #expect(environment.log == ["refuse"])
        environment.renew()
        try await fixture.cache.insert([1], for: "a")
        #expect(environment.log == ["refuse", "begin 1", "end 1"])
    }

    private static func fixture() throws -> (DiskFixture, RecordingEnvironment) {
        let environment = RecordingEnvironment()
        let fixture = try DiskFixture(environment: environment)
        // Opening the directory is a burst of its own.
        environment.resetLog()
        return (fixture, environment)
    }
}
