import EideticCore

/// Hands values to one consumer, and keeps the process running until the consumer has asked for the next one.
///
/// A consumer that has begun to ask is certain to see a change and to do its work, or to begin a task for it, before
/// the process is suspended or ends. One that never asks holds up nobody.
final class Mailbox<Element: Sendable>: Sendable {
    private struct State {
        var queue: [Element] = []
        var waiter: CheckedContinuation<Element?, Never>?
        var hasRequestedValue = false
        var isFinished = false
        var openTask: UInt64 = 0
    }

    private let state = Guarded(State())
    private let tasks: BackgroundTaskTable?
    private let name: String

    /// `tasks` is where the process is held; `nil` for values that need no answer.
    init(name: String, holdingTasksIn tasks: BackgroundTaskTable?) { (self.name, self.tasks) = (name, tasks) }

    deinit { endTask(state.withLock { $0.openTask }) }

    func post(_ element: Element) {
        let hold = state.withLock { $0.hasRequestedValue && $0.openTask == 0 } ? beginTask() : 0
        let (waiter, surplus) = state.withLock { state -> (CheckedContinuation<Element?, Never>?, UInt64) in
            guard !state.isFinished else { return (nil, hold) }
            let keeps = state.openTask == 0 && state.hasRequestedValue
            if keeps { state.openTask = hold }
            let surplus = keeps ? 0 : hold
            defer { state.waiter = nil }
            if state.waiter == nil { state.queue.append(element) }
            return (state.waiter, surplus)
        }
        endTask(surplus)
        waiter?.resume(returning: element)
    }

    /// When time is up the consumer is waited for no longer: it may have stopped to listen, which is no fault.
    private func beginTask() -> UInt64 {
        tasks?.begin(name, handler: .anyThread { [weak self] in self?.expireTask() }) ?? 0
    }

    private func expireTask() {
        let hold = state.withLock { state in
            defer { (state.openTask, state.hasRequestedValue) = (0, false) }
            return state.openTask
        }
        endTask(hold)
    }

    func next() async -> Element? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in dequeue(resuming: continuation) }
        } onCancel: {
            finish()
        }
    }

    private func dequeue(resuming continuation: CheckedContinuation<Element?, Never>) {
        var element: Element?
        var hold: UInt64 = 0
        let answers = state.withLock { state -> Bool in
            state.hasRequestedValue = true
            if !state.queue.isEmpty {
                element = state.queue.removeFirst()
                return true
            }
            (hold, state.openTask) = (state.openTask, 0)
            if !state.isFinished { state.waiter = continuation }
            return state.isFinished
        }
        endTask(hold)
        if answers { continuation.resume(returning: element) }
    }

    /// No more values: what is queued is still handed out.
    func finish() {
        let (waiter, hold) = state.withLock { state in
            defer { (state.waiter, state.isFinished, state.openTask) = (nil, true, 0) }
            return (state.waiter, state.openTask)
        }
        endTask(hold)
        waiter?.resume(returning: nil)
    }

    private func endTask(_ hold: UInt64) { if hold != 0 { tasks?.end(hold) } }
}
