import EideticCore
import EideticDiskWorker
import EideticStore
import EideticTestSupport
import Testing

@Suite("Disk cache: stress", .timeLimit(.minutes(5)))
struct DiskStressTests {
    /// The arguments are a limit that evicts, and one that never does.
    @Test(
        "C18 C19 C10 with eight threads in each of two processes, every result agrees with the model",
        arguments: [1 << 19, 1 << 30]
    )
    func twoProcesses(_ limit: Int) async throws {
        let directory = try TemporaryDirectory(named: "storm")
        func settings(worker: Int) -> StressTestSettings {
            StressTestSettings(
                directory: directory.path(of: "cache"),
                limit: limit,
                worker: worker,
                seed: UInt64.random(in: 0...UInt64.max),
                steps: Torture.repetitions(30, full: 100),
                seconds: Torture.repetitions(0, full: 60)
            )
        }
        // One process is that of the tests, so that sanitizers check it too.
        let other = try Subprocess(DiskWorker.path, arguments: settings(worker: 0).arguments)
        let own = settings(worker: 1)
        let pool = WorkPool(name: "storm", maximumThreadCount: 1)
        #expect(try await pool.run { _ throws(EideticError) in try StressTest(own).run() } == [])
        let result = await other.waitUntilExit()
        #expect(result.status == .exited(0), "\(result.errorText)")
        let cache = try own.openCache()
        #expect(try cache.scan.verify().damaged.isEmpty)
        #expect(cache.blocking.usage.entryCount == (try cache.blocking.entries().count))
        #expect(cache.blocking.usage.allocatedSize.bytes <= limit)
    }
}
