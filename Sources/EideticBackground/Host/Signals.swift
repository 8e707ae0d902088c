import CLinux
import Glibc

/// The signals of a shell, a terminal and a service manager.
struct SignalHandlers {
    private let inbox: EventInbox
    private let terminationRequests = Counter()

    private final class Counter {
        var count = 0
    }

    init(inbox: EventInbox) { self.inbox = inbox }

    /// Has all of them written to the inbox, but for those that somebody else has taken or ignores.
    func install() {
        eidetic_set_signal_pipe(inbox.signalDescriptor)
        for number in [SIGTERM, SIGINT, SIGTSTP, SIGCONT] { _ = eidetic_catch_signal(number) }
    }

    /// Counts requests to stop, this one included.
    func recordTerminationRequest() -> Int {
        terminationRequests.count += 1
        return terminationRequests.count
    }

    /// Ends the process as the signal does where nobody catches it.
    func terminateByDefault(_ number: Int32) {
        eidetic_release_signal(number)
        kill(getpid(), number)
    }

    /// Whether this process is a job of a terminal which has another job in its foreground.
    var isJobInBackground: Bool {
        guard let terminal = [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].first(where: { isatty($0) == 1 }) else {
            return false
        }
        let group = tcgetpgrp(terminal)
        return group > 0 && group != getpgrp()
    }
}
