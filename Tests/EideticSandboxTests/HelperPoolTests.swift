import EideticCodecs
import EideticCore
import EideticSandbox
import EideticTestSupport
import Glibc
import Testing

@Suite("the pool of decoding processes", .timeLimit(.minutes(2)))
struct HelperPoolTests {
    @Test("F07 a process decodes many images, and is replaced after its number of images")
    func processesAreRecycled() throws {
        let pool = Programs.pool { ($0.imageLimit, $0.idleLimit) = (3, 1) }
        let bytes = try Samples.png(10, 10)
        _ = try pool.image(bytes)
        let first = try #require(pool.idleIdentifiers.first)
        _ = try pool.image(bytes)
        #expect(pool.idleIdentifiers == [first])
        _ = try pool.image(bytes)
        #expect(!pool.idleIdentifiers.contains(first))
        _ = try pool.image(bytes)
        #expect(pool.startedCount >= 2)
    }

    @Test("F07 an idle process that was killed is replaced without an error")
    func killedProcessesAreReplaced() throws {
        let pool = Programs.pool { $0.idleLimit = 1 }, bytes = try Samples.png(10, 10)
        _ = try pool.image(bytes)
        let identifier = try #require(pool.idleIdentifiers.first)
        kill(identifier, SIGKILL)
        while !Self.status(of: identifier).contains("State:\tZ") { sched_yield() }
        for _ in 0..<3 { #expect(try pool.image(bytes).size.width == 10) }
    }

    private static func status(of identifier: Int32) -> String {
        let bytes = (try? FileSystem().contents(of: "/proc/\(identifier)/status")) ?? []
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("F07 a decode that is cancelled ends at once, and its process serves the next image or ends")
    func cancellationIsImmediate() async throws {
        let pool = Programs.pool(attack: "loop") { $0.idleLimit = 1 }, context = JobContext()
        let load = Task.detached {
            Programs.error { () throws(EideticError) in try pool.image([0x89, 0x50], context: context) }
        }
        while pool.slowCount == 0 { await Task.yield() }
        context.cancel()
        #expect(await load.value?.code == .cancelled)
        #expect(pool.slowCount == 0)
    }

    @Test("F07 images that hang keep no other one waiting")
    func slowImagesLetOthersPass() async throws {
        let threads = WorkPool(name: "slow", maximumThreadCount: 1), hanging = Programs.pool(attack: "loop")
        let contexts = (0..<6).map { _ in JobContext() }
        let loads = contexts.map { context in
            Task.detached {
                try? await threads.run(in: context) { context throws(EideticError) in
                    _ = try hanging.decode(
                        [0x89, 0x50],
                        options: DecodeOptions(),
                        limits: DecodeLimits(),
                        context: context,
                        pausing: threads
                    )
                }
            }
        }
        while hanging.slowCount < contexts.count { await Task.yield() }
        // All six run on a pool of one thread, and a seventh job runs beside them.
        #expect(try await threads.run { _ in true })
        for context in contexts { context.cancel() }
        for load in loads { await load.value }
        #expect(hanging.slowCount == 0)
        #expect(try await threads.run { _ in true })
    }

    @Test("F07 beyond the largest number of slow images the others wait")
    func slowImagesAreLimited() async throws {
        let hanging = Programs.pool(attack: "loop") { $0.slowLimit = 2 }
        let threads = WorkPool(name: "waiting", maximumThreadCount: 3), contexts = (0..<3).map { _ in JobContext() }
        let loads = contexts.map { context in
            Task.detached {
                _ = try? await threads.run(in: context) { context throws(EideticError) in
                    try hanging.image([0x89], context: context).size
                }
            }
        }
        while hanging.slowCount < 2 { await Task.yield() }
        #expect(hanging.slowCount == 2)
        for context in contexts { context.cancel() }
        for load in loads { _ = await load.value }
    }

    @Test("F07 a process has a filter of system calls, and no capabilities")
    func processesAreRestricted() throws {
        let pool = Programs.pool { $0.idleLimit = 1 }
        _ = try pool.image(try Samples.png(4, 4))
        let identifier = try #require(pool.idleIdentifiers.first)
        let status = Self.status(of: identifier)
        #expect(status.contains("Seccomp:\t2") && status.contains("NoNewPrivs:\t1"))
        #expect(status.contains("CapEff:\t0000000000000000") && status.contains("CapBnd:\t0000000000000000"))
    }
}
