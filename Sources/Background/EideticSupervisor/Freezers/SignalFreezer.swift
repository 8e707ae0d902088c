import CSupervisor
import Glibc

/// A freezer that sends SIGSTOP to each process of the tree, for systems without a writable control group.
///
/// Orphaned descendants are found among the children of the processes above the application: by a variable in their
/// environment, by their session, or because they were seen before they lost their parent. The application itself does
/// not become their parent, as it would not collect what it has not started.
package final class SignalFreezer: Freezer {
    /// The name of the variable that marks the processes of an application.
    package static let markName = "EIDETIC_APPLICATION"

    private let root: ProcessHandle
    private let mark: String
    private let isForeign: (Int32) -> Bool
    private var isRequested: Bool
    /// The start times of the processes of the tree that were seen and have not ended, by their numbers.
    private var seen: [Int32: UInt64] = [:]

    /// The time after which an attempt to stop the tree is continued later.
    private static let immediateTime: Duration = .milliseconds(50)

    package let kind = FreezerKind.signals

    /// Creates a freezer for a process and its descendants.
    ///
    /// - Parameters:
    ///   - root: The application's first process.
    ///   - mark: The value of ``markName`` in its environment, which no other application has.
    ///   - isForeign: Returns whether a process is the first one of another application, which is left alone.
    package init(root: ProcessHandle, mark: String, isForeign: @escaping (Int32) -> Bool = { _ in false }) {
        self.root = root
        self.mark = mark
        self.isForeign = isForeign
        isRequested = "Tt".contains(ProcessStatus(of: root.identifier)?.state ?? "Z")
    }

    /// Stops the tree, repeatedly: a child may have been born before its parent was stopped.
    package func freeze() -> Bool {
        isRequested = true
        let end = Clock.now + Self.immediateTime
        for _ in 0..<50 where Clock.now < end {
            let tree = processStatuses
            for status in tree where !isStopped(status.identifier) { signal(SIGSTOP, to: status) }
            if tree.allSatisfy({ isStopped($0.identifier) }), Set(processes) == Set(tree.map(\.identifier)) {
                return true
            }
            releaseWaitingParents()
            sched_yield()
        }
        return false
    }

    /// Continues the children of processes that wait in the kernel: a parent that waits for its child's `execve`
    /// (`vfork`) cannot stop before.
    private func releaseWaitingParents() {
        let tree = processStatuses
        let waiting = Set(tree.filter { $0.state == "D" }.map(\.identifier))
        for status in tree where status.isStopped && waiting.contains(status.parent) { signal(SIGCONT, to: status) }
    }

    package var isFrozen: Bool { processes.allSatisfy { isStopped($0) } }

    package var isFreezeRequested: Bool { isRequested }

    package func thaw() {
        isRequested = false
        for status in processStatuses { signal(SIGCONT, to: status) }
    }

    /// Stops the tree first, so that no process escapes by a birth.
    package func kill() {
        for _ in 0..<50 {
            let tree = processStatuses
            for status in tree where !isStopped(status.identifier) { signal(SIGSTOP, to: status) }
            if Set(processes) == Set(tree.map(\.identifier)) { break }
        }
        for status in processStatuses { signal(SIGKILL, to: status) }
    }

    package var processes: [Int32] { processStatuses.map(\.identifier) }

    package func remove() -> Bool { processes.isEmpty }

    /// The root cannot leave its own tree.
    package func regainRoot(from found: [Int32]) -> Bool { true }

    /// The processes below the root and its orphans.
    private var processStatuses: [ProcessStatus] {
        let hasEnded = root.hasEnded
        var tree = hasEnded ? [] : [root.identifier]
        tree += orphans(among: hasEnded ? ProcessStatus.all : strangers).map(\.identifier)
        var found = Set(tree)
        var next = 0
        while next < tree.count {
            tree += Self.children(of: tree[next]).filter { !isForeign($0) && found.insert($0).inserted }
            next += 1
        }
        let statuses = tree.compactMap { ProcessStatus(of: $0) }.filter { status in
            status.hasLiveThread
                && (status.identifier != root.identifier || status.startTime == root.startTime)
        }
        remember(statuses)
        return statuses
    }

    /// Adds processes to those that were seen, from which ended ones are removed.
    private func remember(_ statuses: [ProcessStatus]) {
        seen = seen.filter { ProcessStatus(of: $0)?.startTime == $1 }
        for status in statuses { seen[status.identifier] = status.startTime }
    }

    /// The children of the processes above the root, to which the kernel gives orphans.
    private var strangers: [ProcessStatus] {
        var strangers: [ProcessStatus] = []
        var child = root.identifier
        while let parent = ProcessStatus(of: child)?.parent, parent > 0 {
            strangers += Self.children(of: parent).filter { $0 != child }.compactMap { ProcessStatus(of: $0) }
            if parent == getpid(), eidetic_is_subreaper() != 0 { break }
            child = parent
        }
        return strangers
    }

    private func orphans(among strangers: [ProcessStatus]) -> [ProcessStatus] {
        let hasSession = hasSession
        return strangers.filter { status in
            status.identifier != root.identifier && !isForeign(status.identifier) && status.hasLiveThread
                && (seen[status.identifier] == status.startTime || hasSession && status.session == root.identifier
                    || isMarked(status))
                && !isBelowForeign(status)
        }
    }

    /// Returns whether another application has started a process, which may have inherited the mark.
    private func isBelowForeign(_ status: ProcessStatus) -> Bool {
        var parent = status.parent
        while parent > 1 {
            if isForeign(parent) { return true }
            parent = ProcessStatus(of: parent)?.parent ?? 0
        }
        return false
    }

    /// A Boolean value indicating whether a session of the root's number is its own: until the root is collected, no
    /// other process has the number.
    private var hasSession: Bool { ProcessStatus(of: root.identifier)?.startTime == root.startTime }

    /// The children of a process, each of which one of its threads has started or adopted.
    static func children(of identifier: Int32) -> [Int32] {
        KernelFile.names(in: "/proc/\(identifier)/task").flatMap { thread in
            (KernelFile.read("/proc/\(identifier)/task/\(thread)/children") ?? "").split(separator: " ")
                .compactMap { Int32($0) }
        }
    }

    private func isMarked(_ status: ProcessStatus) -> Bool {
        ProcessStatus.environmentValue(of: Self.markName, in: status.identifier) == mark
    }

    private func isStopped(_ identifier: Int32) -> Bool {
        ProcessStatus.threads(of: identifier).allSatisfy(\.isStopped)
    }

    private func signal(_ number: Int32, to status: ProcessStatus) {
        ProcessHandle(identifier: status.identifier, startTime: status.startTime)?.signal(number)
    }
}
