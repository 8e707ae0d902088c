import EideticCore
import EideticSupervisor
import EideticTestSupport
import Glibc
import Testing

@Suite("Freezers", .serialized, .timeLimit(.minutes(2)))
struct FreezerTests {
    @Test("B05 a frozen application uses no processor time, orphaned descendants included", arguments: kinds)
    func standstill(kind: FreezerKind) async throws {
        print("freezer: \(kind.rawValue)")
        let tree = try ProcessTree(kind)
        let control = try ProcessTree(kind)
        try await tree.waitForProcesses(3)
        try await tree.freeze()
        let before = tree.ticks
        // A tree that runs measures the time.
        try await control.waitForTicks(20)
        #expect(tree.ticks == before)
        #expect(tree.freezer.isFrozen && tree.freezer.isFreezeRequested)
        tree.freezer.thaw()
        try await tree.waitForTicks(3)
        #expect(!tree.freezer.isFrozen && !tree.freezer.isFreezeRequested)
    }

    @Test("B05 a frozen tree is killed, orphaned descendants included", arguments: ControlGroups.kinds)
    func killWhileFrozen(kind: FreezerKind) async throws {
        let tree = try ProcessTree(kind)
        try await tree.waitForProcesses(3)
        try await tree.freeze()
        let processes = tree.freezer.processes
        #expect(processes.count >= 3)
        tree.freezer.kill()
        try await eventually("processes of the tree", is: []) { tree.freezer.processes }
        await tree.handle.waitForEnd()
        #expect(tree.handle.takeEnd() == .signalled(SIGKILL))
        // A killed process leaves its group shortly before it is a zombie.
        try await eventually("all processes have ended") {
            processes.allSatisfy { ProcessStatus(of: $0).map { "ZX".contains($0.state) } ?? true }
        }
    }

    @Test("B05 an orphan that is an application of its own is not killed with the one that has started it")
    func foreignOrphan() async throws {
        guard ControlGroups.unavailability == nil else { try Test.cancel("there are no control groups") }
        let tree = try ProcessTree(.group, script: "(setsid sh -c 'sleep 1000; exit' &); sleep 1000; exit")
        let group = try #require(tree.freezer as? GroupFreezer)
        try await tree.waitForProcesses(4)
        let root = tree.handle.identifier
        let statuses = tree.freezer.processes.compactMap { ProcessStatus(of: $0) }
        let orphan = try #require(statuses.first { $0.session == $0.identifier && $0.identifier != root }).identifier
        let child = try #require(statuses.first { $0.parent == orphan }).identifier
        // All of them have left the group.
        let place = "\(try ControlGroups.parent().path)/cgroup.procs"
        for status in statuses { try KernelFile.write("\(status.identifier)", to: place) }
        let mark = try #require(ProcessStatus.environmentValue(of: SignalFreezer.markName, in: root))
        group.setRoot(tree.handle, mark: mark, isForeign: { $0 == orphan })
        let handles = [orphan, child].map { ProcessHandle(identifier: $0) }
        defer { for handle in handles { handle?.signal(SIGKILL) } }
        group.kill()
        await tree.handle.waitForEnd()
        #expect(handles.allSatisfy { $0?.hasEnded == false })
    }

    @Test("B05 what has ended an application leaves the tree of another one alone")
    func foreignTree() async throws {
        let tree = try ProcessTree(.signals, script: "(setsid sh -c 'sleep 1000; exit' &); exec sleep 1000")
        try await tree.waitForProcesses(3)
        let statuses = tree.freezer.processes.compactMap { ProcessStatus(of: $0) }
        let root = tree.handle.identifier
        let orphan = try #require(statuses.first { $0.session == $0.identifier && $0.identifier != root }).identifier
        let child = try #require(statuses.first { $0.parent == orphan }).identifier
        let mark = try #require(ProcessStatus.environmentValue(of: SignalFreezer.markName, in: root))
        let freezer = SignalFreezer(root: tree.handle, mark: mark, isForeign: { $0 == orphan })
        let handles = [orphan, child].map { ProcessHandle(identifier: $0) }
        defer { for handle in handles { handle?.signal(SIGKILL) } }
        tree.handle.signal(SIGKILL)
        await tree.handle.waitForEnd()
        #expect(freezer.processes == [])
        freezer.kill()
        #expect(handles.allSatisfy { $0?.hasEnded == false })
    }

    @Test("descendants are found after the end of the first process", arguments: ControlGroups.kinds)
    func orphans(kind: FreezerKind) async throws {
        let tree = try ProcessTree(kind, script: "setsid sh -c 'while :; do :; done' & exit 7")
        await tree.handle.waitForEnd()
        #expect(tree.handle.takeEnd() == .exited(7))
        #expect(tree.freezer.processes.count == 1)
        try await tree.freeze()
        #expect(tree.freezer.isFrozen)
    }

    @Test("a writable hierarchy of version 2 is used")
    func hierarchy() throws {
        let mounts = KernelFile.read("/proc/self/mountinfo") ?? ""
        guard mounts.contains(" cgroup2 "), geteuid() == 0 else { try Test.cancel("needs root and version 2") }
        #expect(ControlGroups.unavailability == nil)
    }

    @Test("the own group is found below a mount of a part of the hierarchy")
    func ownGroup() {
        let mounts = "36 25 0:32 /user.slice /run/part rw - cgroup2 cgroup2 rw\n"
        #expect(GroupHierarchy.ownGroup(groups: "1:cpu:/\n0::/user.slice/a\n", mounts: mounts) == "/run/part/a")
        #expect(GroupHierarchy.ownGroup(groups: "0::/system.slice\n", mounts: mounts) == nil)
        let whole = "36 25 0:32 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
        #expect(GroupHierarchy.ownGroup(groups: "0::/\n", mounts: whole) == "/sys/fs/cgroup")
        #expect(GroupHierarchy.ownGroup(groups: "0::/a/b\n", mounts: whole) == "/sys/fs/cgroup/a/b")
        #expect(GroupHierarchy.ownGroup(groups: "1:cpu:/\n", mounts: whole) == nil)
    }

    @Test("supervisors with different directories have groups of their own, and none with signals")
    func places() throws {
        guard let own = GroupHierarchy.ownGroup else { try Test.cancel("needs version 2") }
        let directories = [try TemporaryDirectory(), try TemporaryDirectory()]
        var configuration = SupervisorConfiguration()
        let places = directories.map { GroupHierarchy.path(for: configuration, directory: $0.path) }
        #expect(places[0] != places[1] && places.allSatisfy { $0?.hasPrefix("\(own)/eidetic-") == true }, "\(places)")
        configuration.controlGroup = "/given"
        #expect(GroupHierarchy.path(for: configuration, directory: directories[0].path) == "/given")
        configuration.freezer = .signals
        #expect(GroupHierarchy.path(for: configuration, directory: directories[0].path) == nil)
    }
}
