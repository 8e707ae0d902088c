import EideticCore
import EideticStore
import EideticTestSupport
import Glibc
import Testing

@Suite("Disk cache: coverage by background tasks", .timeLimit(.minutes(5)))
struct DiskCoverageTests {
    private static let rounds = Torture.repetitions(100, full: 1_000)

    @Test("C17 while time runs out, four threads write no byte and take no lock outside a background task")
    func runsOut() async throws {
        let environment = RecordingEnvironment(), observer = CoverageObserver(environment)
        let directory = try TemporaryDirectory(named: "coverage")
        var configuration = DiskCache.Configuration(directory: directory.path(of: "cache"))
        configuration.sizeLimit = .kibibytes(256)
        configuration.ageBasis = .access
        let cache = try DiskCache(
            configuration,
            fileSystem: FileSystem(observer: observer),
            environment: environment
        )
        let pool = WorkPool(name: "coverage", maximumThreadCount: 4)
        for round in 0..<Self.rounds {
            observer.expireTime(after: round % 97)
            await withTaskGroup(of: Void.self) { group in
                for thread in 0..<4 {
                    group.addTask {
                        let writer = Writer(cache: cache, number: thread, round: round)
                        try? await pool.run { _ in writer.run() }
                        try? await cache.insert(pattern(900), for: "asynchronous \(thread)")
                    }
                }
            }
            environment.renew()
        }
        #expect(observer.uncoveredCalls == [:])
        #expect(observer.coveredCount > Self.rounds)
        #expect(environment.openTasks == 0)
        #expect(cache.blocking.usage.entryCount > 0)
    }

    @Test("C17 accesses are recorded in a background task, or not at all")
    func accesses() async throws {
        let environment = RecordingEnvironment(), observer = CoverageObserver(environment)
        let directory = try TemporaryDirectory(named: "coverage")
        let cache = try DiskCache(
            DiskCache.Configuration(directory: directory.path),
            fileSystem: FileSystem(observer: observer),
            environment: environment
        )
        try cache.blocking.insert([1], for: "a")
        environment.resetLog()
        environment.exhaust()
        for _ in 0..<1_024 { _ = try cache.blocking.read("a") }
        #expect(environment.log == ["refuse"])
        environment.renew()
        for _ in 0..<1_024 { _ = try cache.blocking.read("a") }
        await environment.waitForLog(3)
        #expect(environment.log == ["refuse", "begin 1", "end 1"])
        #expect(observer.uncoveredCalls == [:])
    }

    @Test("C17 opening a cache writes nothing when the background time has expired, and the cache can be used later")
    func opening() throws {
        let environment = RecordingEnvironment(), observer = CoverageObserver(environment)
        let directory = try TemporaryDirectory(named: "coverage")
        environment.exhaust()
        let cache = try DiskCache(
            DiskCache.Configuration(directory: directory.path),
            fileSystem: FileSystem(observer: observer),
            environment: environment
        )
        #expect(observer.uncoveredCalls == [:])
        environment.renew()
        try cache.blocking.insert([1], for: "a")
        #expect(try cache.blocking.read("a")?.bytes == [1])
    }
}

/// The operations of one thread in one round.
private struct Writer: Sendable {
    let cache: DiskCache
    let number: Int
    let round: Int

    func run() {
        let key = "\(number) \(round % 20)", disk = cache.blocking
        try? disk.insert(pattern(2_000, seed: round), for: key)
        if let entry = try? disk.read(key), let work = try? cache.work.begin() {
            let isAdmitted = (try? work.waitUntilAdmitted()) != nil
            if isAdmitted { _ = try? cache.writer.replaceMetadata(of: entry, with: .init()) }
            work.end()
        }
        _ = disk.usage
        switch (number + round) % 5 {
        case 0: damage(key)
        case 1: _ = try? disk.remove(key)
        case 2: _ = try? disk.trim(toSize: .kibibytes(64))
        case 3: _ = try? disk.sweep(olderThan: .seconds(60), downTo: .kibibytes(128))
        default: _ = try? disk.removeExpired()
        }
        // A large file is written between two transactions.
        if number == 0, round % 8 == 0 { try? disk.insert(pattern(140_000), for: "large") }
    }

    /// Damages an entry's file behind the cache's back, and reads it.
    private func damage(_ key: String) {
        let files = FileSystem()
        if let file = try? files.open(cache.path(for: key), flags: O_WRONLY) { try? files.truncate(file, to: 9) }
        _ = try? cache.blocking.read(key)
    }
}

/// An observer that counts the calls that change or lock a file while no background task is open.
private final class CoverageObserver: SystemCallObserver {
    private static let changes: Set<SystemCall> = [
        .write, .pwrite, .rename, .unlink, .flock, .ftruncate, .fallocate, .utimensat, .fdatasync,
    ]

    private let environment: RecordingEnvironment
    private let state = Guarded((uncovered: [SystemCall: Int](), covered: 0, remaining: Int.max))

    init(_ environment: RecordingEnvironment) { self.environment = environment }

    var uncoveredCalls: [SystemCall: Int] { state.withLock { $0.uncovered } }
    var coveredCount: Int { state.withLock { $0.covered } }

    /// Lets the background time expire before a later call.
    func expireTime(after count: Int) { state.withLock { $0.remaining = count } }

    func willPerform(_ call: SystemCall, path: String?) -> Int32? {
        guard Self.changes.contains(call) else { return nil }
        let isCovered = environment.openTasks > 0
        let expires = state.withLock { state in
            if isCovered { state.covered += 1 } else { state.uncovered[call, default: 0] += 1 }
            state.remaining -= 1
            return state.remaining == 0
        }
        if expires { environment.exhaust() }
        return nil
    }
}
