import EideticCore

/// A queue of values for one consumer, which keeps the process running until the consumer has handled them.
///
/// A value opens a background task until the consumer requests the next value, so that the consumer can react, or open
/// a task of its own, before the process is suspended or ends. A consumer that never requests a value holds no task.
final class Mailbox<Element: Sendable>: Sendable {
    private struct State {
        var queue: [Element] = []
        var waiter: Waiter<Element?>?
        var hasRequestedValue = false
        var isFinished = false
        var openTask: UInt64 = 0
    }

    private let state = Guarded(State())
    private let tasks: BackgroundTaskTable?
    private let name: String

    /// Creates a mailbox; without `tasks` it opens no background tasks.
    init(name: String, holdingTasksIn tasks: BackgroundTaskTable?) { (self.name, self.tasks) = (name, tasks) }

    deinit { endTask(state.withLock { $0.openTask }) }

    func post(_ element: Element) {
        let task = state.withLock { $0.hasRequestedValue && $0.openTask == 0 } ? beginTask() : 0
        let (waiter, unusedTask) = state.withLock { state -> (Waiter<Element?>?, UInt64) in
            guard !state.isFinished else { return (nil, task) }
            let isNewTask = state.openTask == 0 && state.hasRequestedValue
            if isNewTask { state.openTask = task }
            let unusedTask = isNewTask ? 0 : task
            defer { state.waiter = nil }
            if state.waiter == nil { state.queue.append(element) }
            return (state.waiter, unusedTask)
        }
        endTask(unusedTask)
        waiter?.resume(returning: element)
    }

    /// Opens a task that ends at its expiration: a consumer that has stopped consuming must not cause a kill.
    private func beginTask() -> UInt64 {
        tasks?.begin(name, handler: .observer { [weak self] in self?.expireTask() }) ?? 0
    }

    private func expireTask() {
        let task = state.withLock { state in
            defer { (state.openTask, state.hasRequestedValue) = (0, false) }
            return state.openTask
        }
        endTask(task)
    }

    func next() async -> Element? {
        let waiter = Waiter<Element?>()
        dequeue(resuming: waiter)
        await waiter.wait { finish() }
        return waiter.value
    }

    private func dequeue(resuming waiter: Waiter<Element?>) {
        var element: Element?
        var task: UInt64 = 0
        let isReady = state.withLock { state -> Bool in
            state.hasRequestedValue = true
            if !state.queue.isEmpty {
                element = state.queue.removeFirst()
                return true
            }
            (task, state.openTask) = (state.openTask, 0)
            if !state.isFinished { state.waiter = waiter }
            return state.isFinished
        }
        endTask(task)
        if isReady { waiter.resume(returning: element) }
    }

    /// Ends the sequence after the queued values.
    func finish() {
        let (waiter, task) = state.withLock { state in
            defer { (state.waiter, state.isFinished, state.openTask) = (nil, true, 0) }
            return (state.waiter, state.openTask)
        }
        endTask(task)
        waiter?.resume(returning: nil)
    }

    private func endTask(_ task: UInt64) { if task != 0 { tasks?.end(task) } }
}
