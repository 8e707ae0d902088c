import EideticCore
import EideticDiskWorker
import EideticStore
import EideticTestSupport
import Testing

@Suite("Disk cache: storms", .timeLimit(.minutes(5)))
struct DiskStressTests {
    /// A limit that evicts, and one that never does.
    @Test(
        "C18 C19 C10 eight threads in each of two processes: every answer agrees with the model",
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
                steps: 100,
                seconds: Torture.repetitions(0, full: 60)
            )
        }
        // One of them is this process, so that the sanitizers see it too.
        let other = try Subprocess(try DiskWorker.path(), arguments: settings(worker: 0).arguments)
        let own = settings(worker: 1)
        let pool = WorkPool(name: "storm", maximumThreadCount: 1)
        #expect(try await pool.run { _ throws(EideticError) in try StressTest(own).run() } == [])
        let result = await other.waitUntilExit()
        #expect(result.status == .exited(0), "\(result.errorText)")
        let cache = try own.openCache()
        #expect(try cache.verify().damaged.isEmpty)
        #expect(cache.usage.entryCount == (try cache.entries().count))
        #expect(cache.usage.allocatedSize.bytes <= limit)
    }
}
