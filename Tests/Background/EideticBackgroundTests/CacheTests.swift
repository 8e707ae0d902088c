import EideticBackground
import EideticCore
import EideticStore
import EideticTestSupport
import Glibc
import Testing

@Suite("The disk cache in an application that terminates", .timeLimit(.minutes(10)))
struct CacheTests {
    static let rounds = Torture.repetitions(8, full: 500)

    @Test("C17 C18 after SIGTERM during writes, every accepted entry is stored, and the process exits with status 0")
    func termination() async throws {
        let directory = try TemporaryDirectory(named: "term")
        for round in 0..<Self.rounds {
            let probe = try ProbeProcess(["--cache", directory.path(of: "cache\(round)"), "--grace", "50"])
            // At a different moment each time.
            await probe.expectOutput("stored \(round * 7 % 61)\n")
            probe.process.kill(SIGTERM)
            let end = await probe.finish()
            #expect(end.status == .exited(0), "round \(round): \(end.errors)")
            try check(end.lines, against: DiskCache(.init(directory: directory.path(of: "cache\(round)"))))
        }
    }

    @Test("C17 a program that never started its application ends when what is being stored is stored")
    func endWithoutStart() async throws {
        let directory = try TemporaryDirectory(named: "unstarted")
        let probe = try ProbeProcess(["--cache", directory.path, "--unstarted-writes", "200"])
        let end = await probe.finish()
        #expect(end.status == .exited(0), "\(end.errors)")
        #expect(try DiskCache(.init(directory: directory.path)).blocking.usage.entryCount == 200)
    }

    private func check(_ lines: [String], against cache: DiskCache) throws {
        let stored = Self.numbers(after: "stored ", in: lines)
        #expect(!stored.isEmpty)
        // Every entry was stored or rejected, one after the other, except for the one under way at the end.
        let answered = (stored + Self.numbers(after: "refused ", in: lines)).sorted()
        #expect(answered == Array(0..<answered.count))
        for number in stored {
            let entry = try cache.blocking.read("key \(number)")
            #expect(entry?.bytes == Array(repeating: UInt8(truncatingIfNeeded: number), count: 2_000))
        }
        let damaged = try cache.scan.verify().damaged
        #expect(damaged.isEmpty)
    }

    private static func numbers(after word: String, in lines: [String]) -> [Int] {
        lines.compactMap { line in
            line.hasPrefix(word) ? Int(line.dropFirst(word.count).prefix { $0 != " " }) : nil
        }
    }

    @Test("C11 a sweep stops between two steps when background time expires, and the cache stays consistent")
    func sweepIsCutOff() async throws {
        let directory = try TemporaryDirectory(named: "cut")
        let cache = try DiskCache(.init(directory: directory.path))
        let past = DiskCache.Metadata(expirationTime: Timestamp(seconds: 2))
        for number in 0..<600 { try cache.blocking.insert([1], for: "\(number)", metadata: past) }
        // The sweep waits at its 70th file, the 6th of its second step, until its time has expired.
        let probe = try ProbeProcess(["--cache", directory.path, "--no-writes", "--hold-sweep", "70", "--grace", "500"])
        await probe.expectOutput("didBecomeActive")
        probe.process.kill(SIGTERM)
        let end = await probe.finish()
        #expect(end.status == .exited(0))
        #expect(end.lines.contains("sweep held"))
        #expect(end.lines.contains("sweep released"))
        let after = try DiskCache(.init(directory: directory.path))
        let (checked, damaged) = try after.scan.verify()
        #expect(damaged.isEmpty)
        #expect(checked == 600 - 2 * 64)
        #expect(checked == after.blocking.usage.entryCount)
    }

    @Test("C17 a burst of writes is one background task, which opens when the first write is queued")
    @MainActor func oneTask() async throws {
        let directory = try TemporaryDirectory(named: "burst")
        let plan = FaultPlan()
        let gate = Gate()
        let application = Application(), environment = CountingEnvironment(application)
        let configuration = DiskCache.Configuration(directory: directory.path(of: "cache"))
        let cache = try DiskCache(configuration, fileSystem: FileSystem(observer: plan), environment: environment)
        plan.before(.rename, pathContaining: "cache/") { gate.block() }
        // The cache is open by now; opening it writes a file as well.
        #expect(application.openTaskNames.isEmpty)
        let openingCount = environment.beginCount
        // Each call returns to this actor only when it is suspended.
        let writes = (0..<50).map { number in Task.immediate { try await cache.insert([1], for: "\(number)") } }
        #expect(application.openTaskNames == ["eidetic disk cache"])
        gate.open()
        for write in writes { try await write.value }
        #expect(environment.beginCount - openingCount == 1)
        #expect(application.openTaskNames.isEmpty)
        #expect(cache.blocking.usage.entryCount == 50)
    }

    @Test("C11 a sweep starts when the application enters the background, and the process waits for it")
    func sweep() async throws {
        let directory = try TemporaryDirectory(named: "sweep")
        let cache = try DiskCache(.init(directory: directory.path))
        let past = DiskCache.Metadata(expirationTime: Timestamp(seconds: 2))
        try cache.blocking.insert([1, 2, 3], for: "old", metadata: past)
        #expect(cache.blocking.usage.entryCount == 1)
        let probe = try ProbeProcess(["--cache", directory.path, "--no-writes"])
        await probe.expectOutput("didBecomeActive")
        probe.process.kill(SIGTERM)
        #expect(await probe.finish().status == .exited(0))
        #expect(try DiskCache(.init(directory: directory.path)).blocking.usage.entryCount == 0)
    }
}

/// An application as an environment that counts the tasks it is asked for.
private final class CountingEnvironment: ApplicationEnvironment {
    private let application: Application
    private let count = Guarded(0)

    init(_ application: Application) { self.application = application }

    var beginCount: Int { count.withLock { $0 } }
    var phases: AsyncStream<ApplicationPhase> { application.phases }
    var memoryPressure: AsyncStream<MemoryPressure> { application.memoryPressure }

    func beginBackgroundTask(
        named name: String,
        expirationHandler: @escaping @Sendable () -> Void
    ) -> BackgroundTaskIdentifier {
        count.withLock { $0 += 1 }
        return application.beginBackgroundTask(named: name, expirationHandler: expirationHandler)
    }

    func endBackgroundTask(_ identifier: BackgroundTaskIdentifier) { application.endBackgroundTask(identifier) }
}
