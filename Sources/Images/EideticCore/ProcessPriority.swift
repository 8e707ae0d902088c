import Glibc

/// The scheduling priority of processes and threads.
package enum ProcessPriority {
    /// Sets the priority, from -20 (first) to 19 (last); returns `false` if the system refuses.
    @discardableResult
    package static func set(_ priority: Int32, of process: Int32) -> Bool {
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(bitPattern: process), priority) == 0
    }
}
