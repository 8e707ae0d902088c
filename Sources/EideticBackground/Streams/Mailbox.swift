import EideticCore

/// Hands values to one consumer, and keeps the process running until the consumer has asked for the next one.
///
/// A consumer that has begun to ask is certain to see a change and to do its work, or to begin a task for it, before
/// the process is suspended or ends. One that never asks holds up nobody.
final class Mailbox<Element: Sendable>: Sendable {
    private struct State {
        var queue: [Element] = []
        var waiting: CheckedContinuation<Element?, Never>?
        var hasAsked = false
        var isFinished = false
        var hold: UInt64 = 0
    }

    private let state = Guarded(State())
    private let tasks: TaskTable?
    private let name: String

    /// `tasks` is where the process is held; `nil` for values that need no answer.
    init(_ name: String, holdingIn tasks: TaskTable?) { (self.name, self.tasks) = (name, tasks) }

    deinit { release(state.withLock { $0.hold }) }

    func post(_ element: Element) {
        let hold = state.withLock { $0.hasAsked && $0.hold == 0 } ? beginHold() : 0
        let (waiter, surplus) = state.withLock { state -> (CheckedContinuation<Element?, Never>?, UInt64) in
            guard !state.isFinished else { return (nil, hold) }
            let keeps = state.hold == 0 && state.hasAsked
            if keeps { state.hold = hold }
            let surplus = keeps ? 0 : hold
            defer { state.waiting = nil }
            if state.waiting == nil { state.queue.append(element) }
            return (state.waiting, surplus)
        }
        release(surplus)
        waiter?.resume(returning: element)
    }

    /// When time is up the consumer is waited for no longer: it may have stopped to listen, which is no fault.
    private func beginHold() -> UInt64 {
        tasks?.begin(name, .anywhere { [weak self] in self?.letGo() }) ?? 0
    }

    private func letGo() {
        let hold = state.withLock { state in
            defer { (state.hold, state.hasAsked) = (0, false) }
            return state.hold
        }
        release(hold)
    }

    func next() async -> Element? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in ask(continuation) }
        } onCancel: {
            finish()
        }
    }

    private func ask(_ continuation: CheckedContinuation<Element?, Never>) {
        var element: Element?
        var hold: UInt64 = 0
        let answers = state.withLock { state -> Bool in
            state.hasAsked = true
            if !state.queue.isEmpty {
                element = state.queue.removeFirst()
                return true
            }
            (hold, state.hold) = (state.hold, 0)
            if !state.isFinished { state.waiting = continuation }
            return state.isFinished
        }
        release(hold)
        if answers { continuation.resume(returning: element) }
    }

    /// No more values: what is queued is still handed out.
    func finish() {
        let (waiter, hold) = state.withLock { state in
            defer { (state.waiting, state.isFinished, state.hold) = (nil, true, 0) }
            return (state.waiting, state.hold)
        }
        release(hold)
        waiter?.resume(returning: nil)
    }

    private func release(_ hold: UInt64) { if hold != 0 { tasks?.end(hold) } }
}
