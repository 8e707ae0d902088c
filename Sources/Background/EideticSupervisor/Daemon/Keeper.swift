import CSupervisor
import Glibc

/// The process that starts the supervisor again when it ends, for systems without a service manager.
package struct Keeper {
    /// The time in which the third crash ends the keeper.
    private static let crashWindow: Duration = .seconds(60)
    private static let crashLimit = 3
    /// The exit status of a supervisor that is not needed, because another one uses the directory.
    package static let refusedStatus: Int32 = 75
    /// The exit status of a supervisor that has no directory: the next one would have none either.
    package static let unusableStatus: Int32 = 69

    private let supervise: () -> Int32
    private let giveUp: () -> Void

    /// Creates a keeper.
    ///
    /// - Parameters:
    ///   - supervise: Runs the supervisor in a child process; returns its exit status.
    ///   - giveUp: Continues every application, after too many crashes.
    package init(supervise: @escaping () -> Int32, giveUp: @escaping () -> Void) {
        self.supervise = supervise
        self.giveUp = giveUp
    }

    /// Runs until the supervisor ends by itself with success, or has failed three times in 60 s; returns the exit
    /// status.
    ///
    /// A supervisor that cannot start counts as a crash, unless its directory cannot be used: the applications that an
    /// earlier one has suspended would otherwise stay so.
    package func run() -> Int32 {
        eidetic_become_subreaper()
        var crashes: [Duration] = []
        while true {
            let end = superviseOnce()
            if end == .exited(0) { return 0 }
            if end == .exited(Self.refusedStatus) { return 1 }
            if end == .exited(Self.unusableStatus) {
                giveUp()
                return 1
            }
            crashes = crashes.filter { Clock.now - $0 < Self.crashWindow } + [Clock.now]
            Self.report("the supervisor has crashed (\(end)), \(crashes.count) times in 60 s")
            if Self.isStopRequested || crashes.count >= Self.crashLimit {
                giveUp()
                return 1
            }
        }
    }

    /// Runs the supervisor in a child; a signal that arrives before the child can read it is forwarded afterwards.
    private func superviseOnce() -> ProcessEnd {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in Self.signals { sigaddset(&signals, number) }
        sigprocmask(SIG_BLOCK, &signals, nil)
        let child = eidetic_fork()
        if child == 0 {
            // Still blocked: the supervisor reads them from a descriptor.
            for number in Self.signals { signal(number, SIG_DFL) }
            exit(supervise())
        }
        Self.forwarded = child
        for number in Self.signals {
            signal(number) { number in
                Keeper.isStopRequested = true
                if Keeper.forwarded > 0 { kill(Keeper.forwarded, number) }
            }
        }
        sigprocmask(SIG_UNBLOCK, &signals, nil)
        guard child > 0 else { return .unknown }
        return Self.waitForEnd(of: child)
    }

    /// Waits for the child; orphans of applications are collected too.
    private static func waitForEnd(of child: pid_t) -> ProcessEnd {
        while true {
            var status: Int32 = 0
            let ended = waitpid(-1, &status, 0)
            guard ended == child || ended < 0 && errno != EINTR else { continue }
            // A process with this number is no child any more.
            forwarded = 0
            return ended == child ? ProcessEnd(waitStatus: status) : .unknown
        }
    }

    private static let signals = [SIGTERM, SIGINT, SIGHUP]

    // Safe: the keeper has one thread, and a signal handler uses them while the signals are not blocked.
    /// The supervisor's process, to which signals are forwarded; 0 if none runs.
    private nonisolated(unsafe) static var forwarded: pid_t = 0
    private nonisolated(unsafe) static var isStopRequested = false

    private static func report(_ text: String) {
        _ = "eideticd: \(text)\n".withCString { write(STDERR_FILENO, $0, strlen($0)) }
    }
}
