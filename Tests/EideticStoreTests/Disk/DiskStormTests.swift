import EideticCore
import EideticDiskWorker
import EideticStore
import EideticTestSupport
import Testing

@Suite("Disk cache: storms", .timeLimit(.minutes(5)))
struct DiskStormTests {
    /// A limit that evicts, and one that never does.
    @Test(
        "C18 C19 C10 eight threads in each of two processes: every answer agrees with the model",
        arguments: [1 << 19, 1 << 30]
    )
    func twoProcesses(_ limit: Int) async throws {
        let directory = try TemporaryDirectory("storm")
        func settings(_ worker: Int) -> StormSettings {
            StormSettings(
                directory: directory.path("cache"),
                limit: limit,
                worker: worker,
                seed: UInt64.random(in: 0...UInt64.max),
                steps: 100,
                seconds: Torture.count(0, full: 60)
            )
        }
        // One of them is this process, so that the sanitizers see it too.
        let other = try Subprocess(try DiskWorker.path(), settings(0).arguments)
        let own = settings(1)
        let pool = WorkPool(name: "storm", width: 1)
        #expect(try await pool.run { _ throws(EideticError) in try StormProof(own).run() } == [])
        let result = await other.finish()
        #expect(result.status == .exited(0), "\(result.errorText)")
        let cache = try own.cache()
        #expect(try cache.verify().damaged.isEmpty)
        #expect(cache.usage.entries == (try cache.entries().count))
        #expect(cache.usage.allocated.bytes <= limit)
    }
}
