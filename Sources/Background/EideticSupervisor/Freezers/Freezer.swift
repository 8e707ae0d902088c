/// The mechanism that stops the processes of an application.
package enum FreezerKind: String, Sendable, Hashable, CaseIterable {
    /// A control group of version 2.
    case group = "cgroup2"
    /// SIGSTOP to each process of the tree: visible to shells, and undone by anybody's SIGCONT.
    case signals = "sigstop"
}

/// Stops and continues an application: its process, and everything that it has started.
///
/// The application's signals are never used on a frozen one, except to kill it.
package protocol Freezer: AnyObject {
    var kind: FreezerKind { get }
    /// Begins to stop every thread, and returns whether all are stopped already.
    func freeze() -> Bool
    /// A Boolean value indicating whether every thread is stopped.
    var isFrozen: Bool { get }
    /// A Boolean value indicating whether a freeze was begun and not undone, by this supervisor or an earlier one.
    var isFreezeRequested: Bool { get }
    /// Continues every thread.
    func thaw()
    /// Ends every process with SIGKILL, frozen or not.
    func kill()
    /// The processes that have not ended.
    var processes: [Int32] { get }
    /// Checks that the application's first process and all children are among those that were found, and else takes
    /// them back, to be stopped again; returns whether they were there.
    func regainRoot(from found: [Int32]) -> Bool
    /// Releases what the mechanism occupies; returns `false` if processes are left.
    func remove() -> Bool
}
