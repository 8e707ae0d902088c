import EideticBackground
import EideticCore
import EideticStore
import EideticTestSupport
import Glibc
import Testing

@Suite("The disk cache in an application that ends", .timeLimit(.minutes(10)))
struct CacheTests {
    static let rounds = Torture.count(8, full: 500)

    @Test("C17 C18 SIGTERM while the cache writes: what was accepted is there, and the process ends well")
    func termination() async throws {
        let directory = try TemporaryDirectory("term")
        for round in 0..<Self.rounds {
            let probe = try ProbeProcess(["--cache", directory.path("cache\(round)"), "--grace", "50"])
            // Another moment each time.
            await probe.expects("stored \(round * 7 % 61)\n")
            probe.process.kill(SIGTERM)
            let end = await probe.lines()
            #expect(end.status == .exited(0), "round \(round): \(end.errors)")
            try check(end.lines, DiskCache(.init(directory: directory.path("cache\(round)"))))
        }
    }

    private func check(_ lines: [String], _ cache: DiskCache) throws {
        let stored = Self.numbers("stored ", lines)
        #expect(!stored.isEmpty)
        // One after the other: each of them was stored or refused, but for the one that was under way at the end.
        let answered = (stored + Self.numbers("refused ", lines)).sorted()
        #expect(answered == Array(0..<answered.count))
        for number in stored {
            let entry = try cache.read("key \(number)")
            #expect(entry?.bytes == Array(repeating: UInt8(truncatingIfNeeded: number), count: 2_000))
        }
        let damaged = try cache.verify().damaged
        #expect(damaged.isEmpty)
    }

    private static func numbers(_ word: String, _ lines: [String]) -> [Int] {
        lines.compactMap { line in
            line.hasPrefix(word) ? Int(line.dropFirst(word.count).prefix { $0 != " " }) : nil
        }
    }

    @Test("C11 a sweep whose time is up stops between two steps, and the cache stays sound")
    func sweepIsCutOff() async throws {
        let directory = try TemporaryDirectory("cut")
        let cache = try DiskCache(.init(directory: directory.path))
        let past = DiskCache.Metadata(expires: Timestamp(seconds: 2))
        for number in 0..<600 { try cache.write([1], for: "\(number)", metadata: past) }
        let probe = try ProbeProcess(["--cache", directory.path, "--no-writes", "--grace", "0"])
        await probe.expects("didBecomeActive")
        probe.process.kill(SIGTERM)
        #expect(await probe.lines().status == .exited(0))
        let after = try DiskCache(.init(directory: directory.path))
        let (checked, damaged) = try after.verify()
        #expect(damaged.isEmpty)
        #expect(checked == after.usage.entries)
    }

    @Test("C17 a burst of writes is one task of the application, from the moment at which the first is queued")
    func oneTask() async throws {
        let directory = try TemporaryDirectory("burst")
        let plan = FaultPlan()
        let gate = Gate(), reached = Gate()
        let application = Application()
        let configuration = DiskCache.Configuration(directory: directory.path("cache"))
        let cache = try DiskCache(configuration, fileSystem: FileSystem(observer: plan), environment: application)
        plan.before(.rename, pathPart: "cache/") {
            reached.open()
            gate.block()
        }
        // Once the cache is open: opening it renames a file as well.
        #expect(application.openTaskNames.isEmpty)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 { group.addTask { try await cache.insert([1], for: "\(number)") } }
            await reached.wait()
            #expect(application.openTaskNames == ["eidetic disk cache"])
            gate.open()
            try await group.waitForAll()
        }
        #expect(application.openTaskNames.isEmpty)
        #expect(cache.usage.entries == 50)
    }

    @Test("C11 the sweep is begun on the way into the background, and the process waits for it")
    func sweep() async throws {
        let directory = try TemporaryDirectory("sweep")
        let cache = try DiskCache(.init(directory: directory.path))
        let past = DiskCache.Metadata(expires: Timestamp(seconds: 2))
        try cache.write([1, 2, 3], for: "old", metadata: past)
        #expect(cache.usage.entries == 1)
        let probe = try ProbeProcess(["--cache", directory.path, "--no-writes"])
        await probe.expects("didBecomeActive")
        probe.process.kill(SIGTERM)
        #expect(await probe.lines().status == .exited(0))
        #expect(try DiskCache(.init(directory: directory.path)).usage.entries == 0)
    }
}
