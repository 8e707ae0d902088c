import EideticCore
import EideticStore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("Locks at suspension", .serialized, .timeLimit(.minutes(10)))
struct LockTests {
    @Test("B15 an application that holds a lock for which a process waits is thawed, then killed", arguments: kinds)
    func awaitedLock(kind: FreezerKind) async throws {
        let daemon = try await Daemon(kind, ["--limit", "idle=20"])
        let path = try daemon.directory.write([0], to: "data")
        try await daemon.launchInForeground("one", ["--lock", path])
        let script = """
            import fcntl, sys
            file = open(sys.argv[1], "r+")
            print("waits", flush=True)
            fcntl.lockf(file, fcntl.LOCK_EX)
            print("locked")
            """
        let waiter = try Subprocess("/usr/bin/env", arguments: ["python3", "-c", script, path])
        #expect(await waiter.waitForOutput("waits"))
        // It waits in the kernel, where the supervisor sees it.
        let files = "/proc/\(try #require(try daemon.status(of: "one")?.process))/fdinfo"
        let locks = KernelFile.names(in: files).flatMap { name in
            (KernelFile.read("\(files)/\(name)") ?? "").split(separator: "\n").compactMap { FileLock(line: $0)?.key }
        }
        try await eventually("the lock is waited for") {
            !FileLock.contended(in: KernelFile.read("/proc/locks") ?? "").isDisjoint(with: locks)
        }
        try daemon.perform(.background(identifier: "one"))
        #expect(await waiter.waitUntilExit().outputText.contains("locked"))
        await daemon.expectState(.notRunning, of: "one")
        #expect(try daemon.status(of: "one")?.lastExit?.contains("0xdead10cc") == true)
        let log = try daemon.lines(.log(identifier: "one", count: 50))
        #expect(log.contains { $0.contains("thawed") && $0.contains(path) })
        await daemon.finish()
    }

    @Test("B15 a lock that nobody waits for does not keep an application from suspension, except that of a cache")
    func unawaitedLock() async throws {
        let daemon = try await Daemon(.group, ["--limit", "idle=20"])
        let data = try daemon.directory.write([0], to: "data")
        let lock = try daemon.directory.write([], to: "cache/lock")
        try daemon.launch("one", ["--lock", data])
        try daemon.launch("two", ["--lock", lock])
        // The byte that says that a cache instance is open.
        let open = try daemon.directory.write([], to: "open/lock")
        try daemon.launch("three", ["--lock", open, "--bytes", "1"])
        for name in ["one", "two", "three"] {
            await daemon.expectState(.active, of: name)
            try daemon.perform(.background(identifier: name))
        }
        for name in ["one", "three"] { await daemon.expectState(.suspended, of: name) }
        await daemon.expectState(.notRunning, of: "two")
        #expect(try daemon.status(of: "two")?.lastExit?.contains("0xdead10cc") == true)
        await daemon.finish()
    }

    @Test("B15 the lock of a cache is found when the kernel joins it with that of the cache instance")
    func joinedLock() async throws {
        let daemon = try await Daemon(.group, ["--limit", "idle=20"])
        let lock = try daemon.directory.write([], to: "cache/lock")
        try await daemon.launchInForeground("one", ["--lock", lock, "--bytes", "01"])
        try daemon.perform(.background(identifier: "one"))
        await daemon.expectState(.notRunning, of: "one")
        #expect(try daemon.status(of: "one")?.lastExit?.contains("0xdead10cc") == true)
        await daemon.finish()
    }

    @Test("B15 the first lock of a cache is found before it has opened its ledger")
    func firstLock() throws {
        let directory = try TemporaryDirectory(named: "cache"), look = LookAtLocks()
        let cache = try DiskCache(.init(directory: directory.path), fileSystem: FileSystem(observer: look))
        try cache.blocking.insert([1], for: "a")
        let found = try #require(look.found, "no ledger was opened")
        #expect(found?.path == "\(directory.path)/lock" && found?.isAwaited == false)
        // Between its changes it holds only what says that it is open.
        #expect(HeldLocks.violation(of: [getpid()])?.path != "\(directory.path)/lock")
    }

    /// Looks for locks of this process when it opens the ledger of a cache for the first time.
    private final class LookAtLocks: SystemCallObserver {
        private let violation = Guarded<HeldLocks.Violation??>(nil)
        var found: HeldLocks.Violation?? { violation.withLock { $0 } }

        func willPerform(_ call: SystemCall, path: String?) -> Int32? {
            guard call == .open, path?.hasSuffix("/ledger") == true else { return nil }
            violation.withLock { found in if found == nil { found = .some(HeldLocks.violation(of: [getpid()])) } }
            return nil
        }
    }

    @Test(
        "B15 a process that writes into a shared cache never waits for one that is suspended again and again",
        arguments: ControlGroups.kinds
    )
    func sharedCache(kind: FreezerKind) async throws {
        let daemon = try await Daemon(kind, ["--limit", "idle=0"])
        let cache = daemon.directory.path(of: "cache")
        var program = ProgramDescription(executable: Daemon.probe)
        (program.arguments, program.environment) = (["background", "--cache", cache], ["PATH=/usr/bin:/bin"])
        for name in ["suspended", "running"] {
            try daemon.perform(.install(identifier: name, program: program))
            try daemon.perform(.launch(identifier: name, url: nil, inBackground: false))
        }
        await daemon.expectState(.active, of: "suspended")
        let lock = "\(cache)/lock"
        for _ in 0..<Torture.repetitions(3, full: 1_000) {
            // One that writes without a pause is frozen when its background time ends; its handlers stop the writing.
            try await daemon.suspend("suspended")
            let file = try FileSystem().open(lock, flags: O_RDWR)
            // The other one may hold the lock, but not for long; a wait for the suspended one would not end.
            try await eventually("the lock is free") { try !FileSystem().isByteLocked(at: 0, of: file) }
            let stored = stores(daemon)
            #expect(await daemon.waitForStatuses { _ in stores(daemon) > stored })
            try await daemon.resume("suspended")
        }
        #expect(!daemon.output.contains("refused"))
        await daemon.finish()
    }

    private func stores(_ daemon: Daemon) -> Int { daemon.output.ranges(of: "stored ").count }
}
