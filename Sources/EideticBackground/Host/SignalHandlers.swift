import CLinux
import Glibc

/// The handlers for the signals of a shell, a terminal and a service manager.
struct SignalHandlers {
    private let inbox: EventInbox
    private let terminationRequests = Counter()

    private final class Counter {
        var count = 0
    }

    init(inbox: EventInbox) { self.inbox = inbox }

    /// Forwards the signals to the inbox, except for those that are ignored or have another handler.
    func install() {
        eidetic_set_signal_pipe(inbox.signalDescriptor)
        for number in [SIGTERM, SIGINT, SIGHUP, SIGTSTP, SIGCONT] { _ = eidetic_forward_signal(number) }
    }

    /// Counts the requests to terminate, and returns their number; `nil` for a hangup after another request.
    ///
    /// A terminal that closes sends several of them: its shell, and the kernel when the shell ends.
    func recordTerminationRequest(by number: Int32) -> Int? {
        if number == SIGHUP, terminationRequests.count > 0 { return nil }
        terminationRequests.count += 1
        return terminationRequests.count
    }

    /// Ends the process by the default action of a signal.
    func terminateByDefault(_ number: Int32) {
        eidetic_reset_signal(number)
        kill(getpid(), number)
    }

    /// A Boolean value indicating whether this process is a job of a terminal with another foreground job.
    var isJobInBackground: Bool {
        guard let terminal = [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].first(where: { isatty($0) == 1 }) else {
            return false
        }
        let group = tcgetpgrp(terminal)
        return group > 0 && group != getpgrp()
    }
}
