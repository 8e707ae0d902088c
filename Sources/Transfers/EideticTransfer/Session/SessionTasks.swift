/// The tasks of a session whose ends are not handled, and their changes on the way to the transfer process.
struct SessionTasks {
    private var tasks: [UInt64: TransferTask] = [:]
    private var identifiers: [TransferIdentifier: UInt64] = [:]
    /// The tasks whose state the transfer process does not have, in the order of the application's calls.
    private var changed: [UInt64] = []
    /// The uploads that are being added; their other changes follow.
    private var uploading: Set<UInt64> = []
    /// The tasks whose file could not be handed over, and whose event is left to the next process.
    private var abandoned: Set<UInt64> = []

    subscript(identifier: UInt64) -> TransferTask? { tasks[identifier] }

    var all: [TransferTask] { Array(tasks.values) }
    var isEmpty: Bool { tasks.isEmpty }
    var hasChanges: Bool { !changed.isEmpty }
    /// A Boolean value indicating whether no task has an event that this process may still deliver.
    var areAbandoned: Bool { tasks.keys.allSatisfy(abandoned.contains) }

    /// Returns whether the end of a task may still be handled.
    func isOpen(_ identifier: UInt64) -> Bool { tasks[identifier] != nil && !abandoned.contains(identifier) }

    func task(of transfer: TransferIdentifier) -> TransferTask? { identifiers[transfer].flatMap { tasks[$0] } }

    mutating func insert(_ task: TransferTask) { tasks[task.taskIdentifier] = task }

    /// Adds a task for a transfer, unless there is one; returns the task that has the transfer.
    mutating func adopt(_ task: TransferTask, for transfer: TransferIdentifier) -> TransferTask {
        let current = tasks[task.taskIdentifier] ?? task
        tasks[task.taskIdentifier] = current
        identifiers[transfer] = task.taskIdentifier
        return current
    }

    mutating func confirm(_ task: TransferTask, transfer: TransferIdentifier) {
        identifiers[transfer] = task.taskIdentifier
    }

    mutating func remove(_ identifier: UInt64) {
        guard let transfer = tasks.removeValue(forKey: identifier)?.record.current.transfer else { return }
        identifiers[transfer] = nil
    }

    /// Leaves the event of a task to the next process.
    mutating func abandon(_ identifier: UInt64) { abandoned.insert(identifier) }

    // MARK: Changes

    /// Records that the transfer process does not have the state of a task.
    mutating func markChanged(_ task: TransferTask) { changed.append(task.taskIdentifier) }

    /// Takes the tasks that have changed, each once, in the order of their first changes.
    mutating func takeChanged() -> [TransferTask] {
        defer { changed = [] }
        var known: Set<UInt64> = []
        return changed.filter { known.insert($0).inserted }.compactMap { tasks[$0] }
    }

    /// Keeps changes that could not be sent for the next connection.
    mutating func restoreChanged(_ unsent: [TransferTask]) { changed = unsent.map(\.taskIdentifier) + changed }

    /// Returns those of the tasks that are not being added.
    func withoutUploads(_ tasks: [TransferTask]) -> [TransferTask] {
        tasks.filter { !uploading.contains($0.taskIdentifier) }
    }

    mutating func beginUploads(_ uploads: [TransferTask]) { uploading.formUnion(uploads.map(\.taskIdentifier)) }

    /// Marks the uploads that are to be changed, or to be added over the next connection if this one is lost.
    mutating func endUploads(_ uploads: [TransferTask], isLost: Bool) {
        uploading.subtract(uploads.map(\.taskIdentifier))
        for task in uploads where tasks[task.taskIdentifier] != nil {
            let record = task.record.current
            // One that was refused, or cancelled before, has neither been added nor is to be.
            guard record.transfer != nil || isLost, !record.isCompleted, record.goal != record.confirmed else {
                continue
            }
            changed.append(task.taskIdentifier)
        }
    }
}
