import EideticCore
package import EideticSupervision

/// One attempt to suspend an application: freeze, verify, and leave it to the caller to commit.
package enum FreezeAttempt {
    package enum Outcome: Sendable, Hashable {
        /// Everything is stopped, no task is open, and nobody needs a lock.
        case verified
        /// Everything is stopped, within this number of tasks.
        case openTasks(Int)
        /// Everything is stopped, and holds a lock that others need.
        case lock(HeldLocks.Violation)
        /// Not every thread is stopped yet.
        case pending
    }

    /// Stops the application and verifies it.
    package static func begin(_ freezer: any Freezer, page: SharedPageFile) -> Outcome {
        freezer.freeze() ? verify(freezer, page: page) : .pending
    }

    /// Verifies an application whose freeze was begun before.
    package static func resume(_ freezer: any Freezer, page: SharedPageFile) -> Outcome {
        freezer.isFrozen || freezer.kind == .signals && freezer.freeze() ? verify(freezer, page: page) : .pending
    }

    /// Reads the count again after everything has stopped: what began in between is found.
    private static func verify(_ freezer: any Freezer, page: SharedPageFile) -> Outcome {
        // A page that the application has destroyed counts as an open task.
        let count = page.openTasks ?? 1
        if count > 0 { return .openTasks(Int(clamping: count)) }
        let processes = freezer.processes
        guard freezer.regainRoot(from: processes) else { return .pending }
        guard let violation = HeldLocks.violation(of: processes) else { return .verified }
        return violation == .tooManyFiles ? .pending : .lock(violation)
    }
}
