import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc

/// A shell, its busy child and a busy grandchild that has left the shell's session and lost its parent.
final class ProcessTree {
    let handle: ProcessHandle
    let freezer: any Freezer

    /// Starts the tree and waits until all three run.
    init(_ kind: FreezerKind, script: String = ProcessTree.busyScript) throws {
        let mark = "test-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        var launch = ProgramDescription(executable: "/bin/sh")
        launch.arguments = ["-c", script]
        launch.environment = ["PATH=/usr/bin:/bin", "\(SignalFreezer.markName)=\(mark)"]
        var places = ProgramLaunch.Places()
        places.isSubreaper = kind == .signals
        if kind == .group {
            let group = try GroupFreezer(path: try ControlGroups.parent().path + "/" + mark)
            places.group = group.descriptor
            handle = try ProgramLaunch(launch).start(at: places)
            freezer = group
        } else {
            handle = try ProgramLaunch(launch).start(at: places)
            freezer = SignalFreezer(root: handle, mark: mark)
        }
    }

    /// Ends with this test process at the latest.
    static let busyScript = """
        busy='while [ -d /proc/\(getpid()) ]; do :; done'
        sh -c "$busy" &
        sh -c "setsid sh -c '$busy' & exit"
        wait
        """

    deinit {
        freezer.kill()
        while !handle.hasEnded || !freezer.processes.isEmpty { sched_yield() }
        _ = handle.takeEnd()
        while !freezer.remove() { sched_yield() }
    }

    /// The processor time of the whole tree.
    var ticks: UInt64 { freezer.processes.compactMap { ProcessStatus(of: $0)?.ticks }.reduce(0, +) }

    func waitForProcesses(_ count: Int) { while freezer.processes.count < count { sched_yield() } }

    func waitForTicks(_ count: UInt64) {
        let start = ticks
        while ticks < start + count { sched_yield() }
    }
}

/// The control groups of these tests.
enum ControlGroups {
    /// The reason for which groups cannot be used; `nil` if they can.
    static let unavailability: String? = {
        do {
            _ = try parent()
            return nil
        } catch {
            return "\(error)"
        }
    }()

    /// The freezers that can be tested here; falling back where the hierarchy can be written is a failure.
    static let kinds: [FreezerKind] = unavailability == nil ? [.group, .signals] : [.signals]

    static func parent() throws(SystemError) -> GroupHierarchy {
        guard let own = GroupHierarchy.ownGroup else { throw SystemError(.open, errorNumber: ENOENT, path: "cgroup2") }
        return try GroupHierarchy(at: "\(own)/eidetic-tests")
    }
}
