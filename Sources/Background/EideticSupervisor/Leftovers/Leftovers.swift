/// A process that has ended, while something of it is left.
package protocol Leftover {
    /// Ends the group and the page when no process is left; returns `false` if one is.
    func remove() -> Bool

    /// Kills what is left of the tree.
    func killRest()
}

/// The remains of earlier processes of an application: control groups and pages, until nothing runs in them.
package struct Leftovers<Process: Leftover>: ApplicationComponent {
    private static var firstPause: Duration { .milliseconds(2) }
    private static var longestPause: Duration { .seconds(30) }

    package private(set) var processes: [Process] = []
    package private(set) var deadline: Duration?
    private var pause = firstPause

    package init() {}

    package mutating func add(_ process: Process) { processes.append(process) }

    /// Removes what can be removed, and looks at the rest soon.
    package mutating func clear(at now: Duration) -> [ApplicationEffect] {
        pause = Self.firstPause
        return removeAll(at: now)
    }

    private mutating func removeAll(at now: Duration) -> [ApplicationEffect] {
        processes.removeAll { $0.remove() }
        for process in processes { process.killRest() }
        deadline = processes.isEmpty ? nil : now + pause
        return [.reportChange]
    }

    package mutating func handle(_ change: ApplicationChange, in view: ApplicationView) -> [ApplicationEffect] {
        guard change == .deadline else { return [] }
        pause = min(pause * 2, Self.longestPause)
        return removeAll(at: view.now)
    }
}
