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
        (handle, freezer) = try Self.start(launch, kind, mark: mark)
    }

    /// Starts a program in a control group of its own, or with a mark in its environment.
    static func start(
        _ program: ProgramDescription,
        _ kind: FreezerKind,
        mark: String,
        at places: ProgramLaunch.Places = ProgramLaunch.Places()
    ) throws -> (handle: ProcessHandle, freezer: any Freezer) {
        guard kind == .group else {
            let handle = try ProgramLaunch(program).start(at: places)
            return (handle, SignalFreezer(root: handle, mark: mark))
        }
        let group = try GroupFreezer(path: "\(try ControlGroups.parent().path)/\(mark)")
        var places = places
        places.group = group.descriptor
        return (try ProgramLaunch(program).start(at: places), group)
    }

    /// Ends with this test process at the latest.
    static let busyScript = """
        busy='while [ -d /proc/\(getpid()) ]; do :; done'
        sh -c "$busy" &
        sh -c "setsid sh -c '$busy' & exit"
        wait
        """

    deinit { end(handle, in: freezer) }

    /// The processor time of the whole tree.
    var ticks: UInt64 { freezer.processes.compactMap { ProcessStatus(of: $0)?.ticks }.reduce(0, +) }

    func waitForProcesses(_ count: Int) async throws {
        try await eventually("\(count) processes run", value: { freezer.processes.count }, until: { $0 >= count })
    }

    func waitForTicks(_ count: UInt64) async throws {
        let end = ticks + count
        try await eventually("\(end) ticks are used", value: { ticks }, until: { $0 >= end })
    }

    func freeze() async throws { try await eventually("the tree is frozen") { freezer.freeze() } }
}

/// Kills the processes of a freezer, collects the first one, and removes the freezer.
///
/// For deinitializers, which cannot suspend.
func end(_ handle: ProcessHandle, in freezer: any Freezer) {
    freezer.kill()
    blockUntil { handle.hasEnded && freezer.processes.isEmpty }
    _ = handle.takeEnd()
    blockUntil { freezer.remove() }
}

/// The freezers that can be tested here.
let kinds = ControlGroups.kinds

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
