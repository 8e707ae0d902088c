import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("Blocking executor", .timeLimit(.minutes(1)))
struct BlockingExecutorTests {
    private let files = WorkPool(name: "files", maximumThreadCount: 4, isForFiles: true)
    private let others = WorkPool(name: "others", maximumThreadCount: 4)

    private static func thread(of pool: WorkPool) async throws(EideticError) -> pthread_t {
        try await pool.run { _ throws(EideticError) in pthread_self() }
    }

    @Test("C17 a task that prefers the executor does the work of a pool for files itself, and no other work")
    func ownThread() async throws {
        let executor = BlockingExecutor(name: "test", maximumThreadCount: 1)
        let (own, file, other) = try await withTaskExecutorPreference(executor) {
            (pthread_self(), try await Self.thread(of: files), try await Self.thread(of: others))
        }
        #expect(own == file && own != other)
        #expect(BlockingExecutor.current == nil)
        #expect(try await Self.thread(of: files) != own)
    }

    @Test("L02 a job that such a task starts for several callers runs on the executor, too")
    func jobs() async throws {
        let executor = BlockingExecutor(name: "test", maximumThreadCount: 1)
        let coalescer = TaskCoalescer<Int, Never, [pthread_t]>()
        let threads = try await withTaskExecutorPreference(executor) {
            try await coalescer.value(for: 1) { _ async throws(EideticError) in
                let first = pthread_self()
                _ = try await Self.thread(of: others)
                return [first, pthread_self(), try await Self.thread(of: files)]
            }
        }
        #expect(Set(threads).count == 1)
    }

    @Test("L02 work of a task that is cancelled does not start")
    func cancellation() async {
        let executor = BlockingExecutor(name: "test", maximumThreadCount: 1), gate = Gate()
        let task = Task(executorPreference: executor) { () -> EideticError? in
            await gate.wait()
            do throws(EideticError) {
                _ = try await Self.thread(of: files)
                return nil
            } catch {
                return error
            }
        }
        task.cancel()
        gate.open()
        #expect(await task.value?.code == .cancelled)
    }

    @Test("C17 further threads take the tasks that wait behind one that blocks, at most as many as allowed")
    func furtherThreads() async throws {
        let executor = BlockingExecutor(name: "test", maximumThreadCount: 3)
        let gate = Gate(), threads = ThreadLog()
        let blocked = Task(executorPreference: executor) {
            threads.recordOwn()
            gate.block()
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<500 {
                group.addTask(executorPreference: executor) { threads.recordOwn() }
            }
        }
        gate.open()
        await blocked.value
        #expect((2...3).contains(threads.count))
    }
}

extension BlockingExecutorTests {
    @Test("C17 a task that waits behind one that blocks is taken by another thread, although no further one comes")
    func noFurtherTask() async {
        for _ in 0..<Torture.repetitions(200, full: 5_000) {
            let executor = BlockingExecutor(name: "test", maximumThreadCount: 2), gate = Gate(), done = Gate()
            // Its thread is idle, or about to be, when the next two come: it may be woken for both, and block in one.
            await Task(executorPreference: executor) {}.value
            let blocked = Task(executorPreference: executor) { gate.block() }
            let last = Task(executorPreference: executor) { done.open() }
            await done.wait()
            gate.open()
            for task in [blocked, last] { await task.value }
        }
    }
}

/// The threads on which tasks have run.
private final class ThreadLog: Sendable {
    private let threads = Guarded<Set<pthread_t>>([])

    var count: Int { threads.withLock { $0.count } }

    func recordOwn() { threads.withLock { _ = $0.insert(pthread_self()) } }
}
