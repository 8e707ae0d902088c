import EideticCore
import EideticSupervision
import Glibc

/// An application for tests that speaks to its supervisor without the library: it prints what it receives, and behaves
/// as its arguments say.
enum SupervisedProgram {
    static func run(_ arguments: [String]) {
        let plan = SupervisedPlan(arguments[...])
        if plan.waitedCallback != nil { blockUserSignal() }
        if plan.forksTwice { forkTwice() }
        if plan.forks { fork() }
        use(mebibytes: plan.memory)
        if plan.growth > 0 { grow(plan) }
        let tasks = TaskCounter()
        if let path = plan.flagsPath { Storm(flagsPath: path, tasks: tasks).start() }
        if let path = plan.lockedPath { lock(path, bytes: plan.lockedBytes) }
        SupervisedProbe(plan: plan, tasks: tasks).run()
    }

    /// Holds the locks of bytes of a file until the end, with the mark of a cache if it is named as the file of one.
    private static func lock(_ path: String, bytes: [Int]) {
        let files = FileSystem()
        guard let file = try? files.open(path, flags: O_RDWR | O_CREAT) else { exit(3) }
        for byte in bytes { guard (try? files.lockByte(at: byte, of: file)) != nil else { exit(4) } }
        if path.hasSuffix("/lock") { try? files.lockByteShared(at: DirectoryLockByte.mark, of: file) }
        _ = file.relinquish()
    }

    /// Uses memory until the end.
    private static func use(mebibytes: Int) {
        guard mebibytes > 0 else { return }
        let block = mmap(nil, mebibytes << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let block, block != MAP_FAILED else { exit(9) }
        memset(block, 1, mebibytes << 20)
    }

    /// Uses more and more memory, about 200 MiB in a second, and says when all of it is used.
    ///
    /// It leaves the last of what its control group may use: the kernel would end it there, if the supervisor of a busy
    /// machine were late.
    private static func grow(_ plan: SupervisedPlan) {
        let (name, growth) = (plan.name, plan.growth)
        let files = FileSystem()
        let text = (try? files.contents(of: "/proc/self/cgroup")).map { String(decoding: $0, as: UTF8.self) }
        let groups = MemoryControlGroup.all(in: text ?? "")
        Thread.start(name: "growth") {
            for _ in 0..<growth {
                let shares = { groups.compactMap { $0.share(files: files, machineMemory: .max) } }
                while shares().contains(where: { $0.available < 12 << 20 }) { usleep(4_000) }
                use(mebibytes: 1)
                usleep(4_000)
            }
            printLine("\(name) has grown")
        }
    }

    /// Blocks SIGUSR1 in all threads, so that a callback can wait for it.
    private static func blockUserSignal() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGUSR1)
        sigprocmask(SIG_BLOCK, &signals, nil)
    }

    /// Starts a busy child, which says its number.
    private static func fork() { _ = spawn("echo child $$; \(busyLoop)") }

    /// Starts a busy grandchild that leaves its session and its parent.
    private static func forkTwice() {
        let child = spawn("setsid sh -c '\(busyLoop)' & exit")
        waitpid(child, nil, 0)
    }

    /// Ends with this process at the latest.
    private static var busyLoop: String { "while [ -d /proc/\(getpid()) ]; do :; done" }

    private static func spawn(_ script: String) -> pid_t {
        let texts: [String] = ["/bin/sh", "-c", script]
        var arguments: [UnsafeMutablePointer<CChar>?] = texts.map { strdup($0) }
        arguments.append(nil)
        var child: pid_t = 0
        posix_spawn(&child, "/bin/sh", nil, nil, &arguments, environ)
        return child
    }
}
