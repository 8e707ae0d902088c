import EideticCore

/// A queue of values for one consumer, which keeps the process running until the consumer has handled them.
///
/// A value opens a background task until the consumer requests the next value, so that the consumer can react, or open
/// a task of its own, before the process is suspended or ends. A consumer that never requests a value holds no task,
/// nor one that has left its loop at a value for which the process is not kept running.
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
    private let keepsRunning: @Sendable (Element) -> Bool

    /// Creates a mailbox; without `tasks` it opens no background tasks, with them one for each value for which
    /// `keepsRunning` returns `true`.
    init(
        name: String,
        holdingTasksIn tasks: BackgroundTaskTable?,
        for keepsRunning: @escaping @Sendable (Element) -> Bool = { _ in true }
    ) {
        self.name = name
        self.tasks = tasks
        self.keepsRunning = keepsRunning
    }

    deinit { endTask(state.withLock { $0.openTask }) }

    func post(_ element: Element) {
        let isHeld = keepsRunning(element)
        let task = isHeld && state.withLock { $0.hasRequestedValue && $0.openTask == 0 } ? beginTask() : 0
        let (waiter, unusedTask) = state.withLock { state -> (Waiter<Element?>?, UInt64) in
            guard !state.isFinished else { return (nil, task) }
            let isNewTask = state.openTask == 0 && state.hasRequestedValue
            if isNewTask { state.openTask = task }
            let unusedTask = isNewTask ? 0 : task
            defer { state.waiter = nil }
            if state.waiter == nil { state.queue.append(element) } else { state.hasRequestedValue = isHeld }
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
            defer {
                state.openTask = 0
                state.hasRequestedValue = false
            }
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
                let first = state.queue.removeFirst()
                element = first
                state.hasRequestedValue = keepsRunning(first)
                if !state.hasRequestedValue, state.queue.isEmpty {
                    task = state.openTask
                    state.openTask = 0
                }
                return true
            }
            task = state.openTask
            state.openTask = 0
            if !state.isFinished { state.waiter = waiter }
            return state.isFinished
        }
        endTask(task)
        if isReady { waiter.resume(returning: element) }
    }

    /// Ends the sequence after the queued values.
    func finish() {
        let (waiter, task) = state.withLock { state in
            defer {
                state.waiter = nil
                state.isFinished = true
                state.openTask = 0
            }
            return (state.waiter, state.openTask)
        }
        endTask(task)
        waiter?.resume(returning: nil)
    }

    private func endTask(_ task: UInt64) { if task != 0 { tasks?.end(task) } }
}
