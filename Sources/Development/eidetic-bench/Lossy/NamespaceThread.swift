import EideticCore
import EideticTestSupport

/// A thread that runs jobs in sequence, in a network namespace that lasts as long as the thread.
final class NamespaceThread: Sendable {
    private let queue = Monitor<(jobs: [@Sendable () -> Void], isOpen: Bool)>(([], true))

    init(name: String) {
        Thread.start(name: name) { [queue] in
            while true {
                let job = queue.wait { state -> (@Sendable () -> Void)?? in
                    if !state.jobs.isEmpty { return .some(state.jobs.removeFirst()) }
                    return state.isOpen ? nil : .some(nil)
                }
                guard let job else { return }
                job()
            }
        }
    }

    deinit {
        queue.withLock { $0.isOpen = false }
        queue.signal()
    }

    /// Runs `body` on the thread and returns its result.
    func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.withLock { $0.jobs.append { continuation.resume(returning: body()) } }
            queue.signal()
        }
    }

    /// Starts a program in the thread's network namespace.
    func spawn(_ program: String, arguments: [String], input: [UInt8] = []) async throws -> Subprocess {
        try await run { Result { try Subprocess(program, arguments: arguments, input: input) } }.get()
    }
}
