/// Lets a bounded number of tasks through at a time; the others wait in their order, without a thread.
package final class AsyncLimiter: Sendable {
    fileprivate struct State {
        var inside = 0
        var isPaused = false
        /// The number that was given out last, and the one whose turn is next.
        var last: UInt64 = 0
        var next: UInt64 = 1
        var waiting: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        /// Numbers whose turn came before their owners did.
        var admitted: Set<UInt64> = []
        /// Numbers that were given up before their turn.
        var gone: Set<UInt64> = []
    }

    private let width: Int
    private let state = Guarded(State())

    /// Creates a limiter that lets `width` tasks through at a time.
    package init(width: Int) { self.width = max(1, width) }

    /// Whether nobody new is let through.
    package var isPaused: Bool {
        get { state.withLock { $0.isPaused } }
        set {
            state.withLock { $0.isPaused = newValue }
            letThrough()
        }
    }

    /// Takes a number, by which the caller's task has its turn; it must be entered with, once.
    package func takeNumber() -> UInt64 {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        letThrough()
        return number
    }

    /// Waits for a place; each success must be followed by one `leave`.
    ///
    /// Throws `cancelled` where the task is.
    package func enter() async throws(EideticError) { try await enter(takeNumber()) }

    /// Waits until it is a number's turn; see `enter()`.
    package func enter(_ number: UInt64) async throws(EideticError) {
        let isIn = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isIn = state.withLock { $0.wait(number, continuation) }
                if let isIn { return continuation.resume(returning: isIn) }
                // A cancellation that came before found nobody to answer.
                if Task.isCancelled { giveUp(number) }
            }
        } onCancel: {
            giveUp(number)
        }
        if !isIn { throw .cancelled }
    }

    /// Gives the place back.
    package func leave() {
        state.withLock { $0.inside -= 1 }
        letThrough()
    }

    private func letThrough() {
        let admitted = state.withLock { $0.admit(width) }
        for continuation in admitted { continuation.resume(returning: true) }
    }

    private func giveUp(_ number: UInt64) { state.withLock { $0.giveUp(number) }?.resume(returning: false) }
}

extension AsyncLimiter.State {
    /// Whether a number is in, or was given up; `nil` where it waits from now on.
    fileprivate mutating func wait(_ number: UInt64, _ continuation: CheckedContinuation<Bool, Never>) -> Bool? {
        if number < next { return admitted.remove(number) != nil }
        if gone.contains(number) { return false }
        waiting[number] = continuation
        return nil
    }

    /// Lets in those whose turn it is; gives those among them that wait.
    fileprivate mutating func admit(_ width: Int) -> [CheckedContinuation<Bool, Never>] {
        var continuations: [CheckedContinuation<Bool, Never>] = []
        while !isPaused, inside < width, next <= last {
            defer { next += 1 }
            if gone.remove(next) != nil { continue }
            inside += 1
            if let continuation = waiting.removeValue(forKey: next) {
                continuations.append(continuation)
            } else {
                admitted.insert(next)
            }
        }
        return continuations
    }

    /// Takes a number out whose turn has not come; gives who waits with it.
    fileprivate mutating func giveUp(_ number: UInt64) -> CheckedContinuation<Bool, Never>? {
        guard number >= next, gone.insert(number).inserted else { return nil }
        return waiting.removeValue(forKey: number)
    }
}
