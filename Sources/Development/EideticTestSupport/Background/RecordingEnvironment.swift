package import EideticCore
import Glibc

/// An environment that records background tasks, and expires or refuses them on request.
package final class RecordingEnvironment: ApplicationEnvironment {
    fileprivate struct State {
        var log: [String] = []
        var handlers: [UInt64: @Sendable () -> Void] = [:]
        var last: UInt64 = 0
        var isExhausted = false
    }

    private let state = Guarded(State())
    private let changes = AsyncStream.makeStream(of: ApplicationPhase.self)
    private let lines = AsyncStream.makeStream(of: Void.self)

    package init() {}

    /// The background tasks that were opened, refused and ended, in order: `begin 1`, `refuse`, `end 1`.
    package var log: [String] { state.withLock { $0.log } }
    /// The number of open background tasks.
    package var openTasks: Int { state.withLock { $0.handlers.count } }

    package var phases: AsyncStream<ApplicationPhase> { changes.stream }
    package var memoryPressure: AsyncStream<MemoryPressure> { AsyncStream { $0.finish() } }

    package func beginBackgroundTask(
        named name: String,
        expirationHandler: @escaping @Sendable () -> Void
    ) -> BackgroundTaskIdentifier {
        let number = state.withLock { $0.open(expirationHandler) }
        // Other threads get the chance to ask for a task before this one knows the answer.
        for _ in 0..<16 { sched_yield() }
        lines.continuation.yield()
        return BackgroundTaskIdentifier(rawValue: number)
    }

    package func endBackgroundTask(_ identifier: BackgroundTaskIdentifier) {
        state.withLock { state in
            state.handlers[identifier.rawValue] = nil
            state.log.append("end \(identifier.rawValue)")
        }
        lines.continuation.yield()
    }

    /// Removes all lines of the log; the next task is the first.
    package func resetLog() { state.withLock { ($0.log, $0.last) = ([], 0) } }

    /// Calls the handlers of all open tasks.
    package func expire() {
        let handlers = state.withLock { Array($0.handlers.values) }
        for handler in handlers { handler() }
    }

    /// Calls the handlers of all open tasks, and refuses further ones.
    package func exhaust() {
        state.withLock { $0.isExhausted = true }
        expire()
    }

    /// Grants background tasks again.
    package func renew() { state.withLock { $0.isExhausted = false } }

    package func enterBackground() { changes.continuation.yield(.background) }

    /// Waits until the log has this many lines.
    package func waitForLog(_ count: Int) async {
        if log.count >= count { return }
        for await _ in lines.stream where log.count >= count { return }
    }
}

extension RecordingEnvironment.State {
    fileprivate mutating func open(_ handler: @escaping @Sendable () -> Void) -> UInt64 {
        guard !isExhausted else {
            log.append("refuse")
            return 0
        }
        last += 1
        handlers[last] = handler
        log.append("begin \(last)")
        return last
    }
}
