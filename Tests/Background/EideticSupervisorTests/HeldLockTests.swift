import EideticSupervisor
import EideticTestSupport
import Glibc
import Testing

@Suite("Locks of processes with few and with many open files", .serialized, .timeLimit(.minutes(2)))
struct HeldLockTests {
    /// Locks a file, opens it until the process has a number of open files, and waits.
    private static let holder = """
        import fcntl, os, signal, sys
        files = [open(sys.argv[1], "r+")]
        fcntl.flock(files[0], fcntl.LOCK_EX)
        # The list has its own descriptor, too.
        missing = int(sys.argv[2]) - len(os.listdir("/proc/self/fd")) + 1
        for number in range(missing): files.append(open(sys.argv[1]))
        print("open", flush=True)
        signal.pause()
        """
    private static let waiter = """
        import fcntl, sys
        fcntl.flock(open(sys.argv[1], "r+"), fcntl.LOCK_EX)
        """

    @Test(
        "B15 a lock is found when a process waits for it, with up to 10,000 open files",
        arguments: Torture.isFull ? [100, 255, 256, 257, 9_999, 10_000, 10_001] : [255, 256, 10_000, 10_001]
    )
    func awaited(count: Int) async throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write([0], to: "data")
        let script = "ulimit -n 10100 && exec python3 -c \"$0\" \"$@\""
        let holder = try Subprocess("/bin/sh", arguments: ["-c", script, Self.holder, path, "\(count)"])
        #expect(await holder.waitForOutput("open"), "\(holder.errorsSoFar)")
        #expect(KernelFile.names(in: "/proc/\(holder.identifier)/fd").count == count)
        let locks = KernelFile.names(in: "/proc/\(holder.identifier)/fdinfo").compactMap { name in
            KernelFile.read("/proc/\(holder.identifier)/fdinfo/\(name)")?.split(separator: "\n")
                .first { $0.hasPrefix("lock:") }.flatMap { FileLock(line: $0) }
        }
        let lock = try #require(locks.first)
        // The list of all locks may have others that are waited for.
        if count <= 10_000 { #expect(HeldLocks.violation(of: [holder.identifier]) == nil) }
        let waiter = try Subprocess("python3", arguments: ["-c", Self.waiter, path])
        try await eventually("the lock is waited for") {
            FileLock.contended(in: KernelFile.read("/proc/locks") ?? "").contains(lock.key)
        }
        let violation = try #require(HeldLocks.violation(of: [holder.identifier]))
        if count > 10_000 {
            #expect(violation == .tooManyFiles)
        } else {
            #expect(violation.process == holder.identifier && violation.path == path && violation.isAwaited)
        }
        holder.kill()
        #expect(await waiter.waitUntilExit().status == .exited(0))
        _ = await holder.waitUntilExit()
    }
}
