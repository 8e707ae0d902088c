import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("Resources of the supervisor", .serialized, .timeLimit(.minutes(30)))
struct ResourceTests {
    @Test("B05 a suspended application uses no processor time, orphaned descendants included", arguments: kinds)
    func standstill(kind: FreezerKind) async throws {
        let daemon = try await Daemon(kind, ["--limit", "idle=20"])
        try await daemon.launchInForeground("one", ["--fork-twice"])
        try await daemon.suspend("one")
        let process = try #require(try daemon.status(of: "one")?.process)
        let processes = ProcessStatus.all.filter { status in
            ProcessStatus.environmentValue(of: SignalFreezer.markName, in: status.identifier)?
                .hasPrefix(daemon.directory.path(of: "run")) == true
        }
        #expect(processes.count == 2 && processes.contains { $0.identifier == process })
        let control = try ProcessTree(.signals)
        try await control.waitForTicks(20)
        for status in processes { #expect(ProcessStatus(of: status.identifier)?.ticks == status.ticks) }
        await daemon.finish()
        for status in processes {
            #expect(ProcessStatus(of: status.identifier).map { "ZX".contains($0.state) } ?? true)
        }
    }

    @Test("B05 launches leave no descriptor, no memory and no control group behind")
    func leaks() async throws {
        let daemon = try await Daemon(.group)
        for _ in 0..<20 { try await launchOnce(in: daemon) }
        let before = resources(of: daemon)
        for _ in 0..<Torture.repetitions(80, full: 10_000) { try await launchOnce(in: daemon) }
        // The connection of the last request is closed a moment after its answer.
        try await eventually("no descriptor is left") {
            resources(of: daemon).descriptors <= before.descriptors
        }
        let after = resources(of: daemon)
        #expect(after.groups == before.groups)
        #expect(after.kilobytes - before.kilobytes < 2_000, "\(before) \(after)")
        print("eideticd: \(after.kilobytes) kB resident")
        await daemon.finish()
    }

    private func launchOnce(in daemon: Daemon) async throws {
        try daemon.launch("one", ["--exit", "0"])
        await daemon.expectState(.notRunning, of: "one")
        _ = await daemon.waitForStatuses { _ in self.resources(of: daemon).groups == 0 }
    }

    private func resources(of daemon: Daemon) -> (descriptors: Int, kilobytes: Int, groups: Int) {
        let identifier = daemon.process.identifier
        let pages = KernelFile.read("/proc/\(identifier)/statm")?.split(separator: " ").dropFirst().first.flatMap {
            Int($0)
        }
        let groups = daemon.controlGroup.map { path in
            KernelFile.names(in: path).count { access("\(path)/\($0)/cgroup.procs", F_OK) == 0 }
        }
        return (KernelFile.names(in: "/proc/\(identifier)/fd").count, (pages ?? 0) * 4, groups ?? 0)
    }

    @Test("B05 a keeper starts the supervisor again; after three crashes everything continues")
    func keeper() async throws {
        let daemon = try await Daemon(.group, ["--keeper", "--limit", "idle=20"])
        try await daemon.launchInForeground("one")
        try await daemon.suspend("one")
        let process = try #require(try daemon.status(of: "one")?.process)
        for crash in 1...3 {
            let child = try #require(daemon.children.first { KernelFile.read("/proc/\($0)/comm") == "eideticd\n" })
            kill(child, SIGKILL)
            if crash < 3 {
                #expect(await daemon.process.waitForOutput("ready", times: crash + 1))
                await daemon.expectState(.suspended, of: "one")
            }
        }
        await daemon.waitUntilEnded()
        let group = try #require(daemon.controlGroup)
        #expect(KernelFile.read("\(group)/one@1/cgroup.freeze") == "0\n")
        #expect(ProcessStatus(of: process) != nil)
        let left = try GroupFreezer(path: "\(group)/one@1")
        left.kill()
        try await eventually("the group is removed") { left.remove() }
        #expect(await daemon.process.waitUntilExit().status == .exited(1))
    }

    @Test("B05 a process that cannot be frozen is reported, and others are suspended meanwhile")
    func unfreezable() async throws {
        let daemon = try await Daemon(.group, ["--limit", "idle=20", "--limit", "freeze=300"])
        let point = daemon.directory.path(of: "hang")
        mkdir(point, 0o700)
        let device = open("/dev/fuse", O_RDWR | O_CLOEXEC)
        let options = "fd=\(device),rootmode=40000,user_id=0,group_id=0"
        // A file system that never answers.
        guard device >= 0, mount("eidetic", point, "fuse", 0, options) == 0 else {
            let reason = "no FUSE file system can be mounted here: \(SystemError.message(for: errno))"
            await daemon.finish()
            try Test.cancel("\(reason)")
        }
        try daemon.launch("stuck", ["--touch", point])
        try daemon.launch("one")
        for name in ["stuck", "one"] {
            await daemon.expectState(.active, of: name)
            try daemon.perform(.background(identifier: name))
        }
        await daemon.expectState(.suspended, of: "one")
        await daemon.expectLine(.explain(identifier: "stuck")) { $0.contains("could not be frozen") }
        #expect(try daemon.lines(.log(identifier: "stuck", count: 9)).contains { $0.contains("unfreezable") })
        #expect(try daemon.status(of: "stuck")?.state == .background)
        close(device)
        umount2(point, Int32(MNT_DETACH))
        await daemon.finish()
    }
}
