import EideticBackground
import EideticCore
import EideticStore
import EideticTestSupport
import Glibc
import Testing

@Suite("The disk cache in an application that ends", .timeLimit(.minutes(10)))
struct CacheTests {
    /// 500 with `EIDETIC_FULL_COUNTS`, which the long proofs set.
    static let rounds = getenv("EIDETIC_FULL_COUNTS") == nil ? 8 : 500

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
        let stored = lines.compactMap { $0.hasPrefix("stored ") ? Int($0.dropFirst(7)) : nil }
        #expect(!stored.isEmpty)
        for number in stored {
            let entry = try cache.read("key \(number)")
            #expect(entry?.bytes == Array(repeating: UInt8(truncatingIfNeeded: number), count: 2_000))
        }
        let damaged = try cache.verify().damaged
        #expect(damaged.isEmpty)
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
