import EideticCore
import EideticWire
import Glibc

/// An application for tests that speaks to its supervisor without the library: it prints what it receives, and behaves
/// as its arguments say.
@main
struct Main {
    static func main() {
        let plan = ProbePlan(CommandLine.arguments.dropFirst())
        if plan.waitedCallback != nil { blockUserSignal() }
        if plan.forksTwice { forkTwice() }
        if plan.forks { fork() }
        let tasks = TaskCounter()
        if let path = plan.flagsPath { Storm(flagsPath: path, tasks: tasks).start() }
        if let path = plan.lockedPath { lock(path) }
        SupervisedProbe(plan: plan, tasks: tasks).run()
    }

    /// Holds the lock of byte 0 of a file until the end.
    private static func lock(_ path: String) {
        guard let file = try? FileSystem().open(path, flags: O_RDWR | O_CREAT) else { exit(3) }
        guard (try? FileSystem().lockByte(at: 0, of: file)) != nil else { exit(4) }
        _ = file.relinquish()
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

/// Writes a line to the standard output in a single call.
func printLine(_ line: String) {
    _ = "\(line)\n".withCString { write(STDOUT_FILENO, $0, strlen($0)) }
}
