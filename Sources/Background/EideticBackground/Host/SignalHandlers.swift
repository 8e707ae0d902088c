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
    ///
    /// - Parameter withJobControl: `false` for those that end the process only: a supervisor stops it by other means.
    func install(withJobControl: Bool) {
        eidetic_set_signal_pipe(inbox.signalDescriptor)
        let numbers = [SIGTERM, SIGINT, SIGHUP] + (withJobControl ? [SIGTSTP, SIGCONT] : [])
        for number in numbers { _ = eidetic_forward_signal(number) }
    }

    private var terminal: Int32? {
        [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].first { isatty($0) == 1 }
    }

    /// A Boolean value indicating whether this process has a terminal that controls its session.
    var hasTerminal: Bool { terminal.map { tcgetpgrp($0) > 0 } ?? false }

    /// Counts the requests to terminate, and returns their number; `nil` for a hangup after another request.
    ///
    /// A terminal that closes sends several of them: its shell, and the kernel when the shell ends.
    func recordTerminationRequest(by number: Int32) -> Int? {
        if number == SIGHUP, terminationRequests.count > 0 { return nil }
        terminationRequests.count += 1
        return terminationRequests.count
    }

    /// The number of requests to terminate since the start of the process, which are valid until it ends.
    var terminationRequestCount: Int { terminationRequests.count }

    /// Ends the process by the default action of a signal.
    func terminateByDefault(_ number: Int32) {
        signal(number, SIG_DFL)
        kill(getpid(), number)
    }

    /// A Boolean value indicating whether this process is a job of a terminal with another foreground job.
    var isJobInBackground: Bool {
        guard let terminal else { return false }
        let group = tcgetpgrp(terminal)
        return group > 0 && group != getpgrp()
    }
}
