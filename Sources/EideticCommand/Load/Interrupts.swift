import EideticCore
import Glibc

/// Ctrl-C and requests to terminate, taken by a thread of its own instead of a signal handler.
enum SignalHandler {
    /// Takes the signals from now on: the first one calls `body`, the second one ends the process at once.
    ///
    /// To be called before any other thread is started, since a thread inherits which signals it does not take. A
    /// signal that the process was started to ignore (`nohup`, `&` in a script) stays ignored.
    static func install(_ body: @escaping @Sendable (ExitStatus) -> Void) {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        Thread.start(name: "interrupts") {
            body(waitForSignal())
            _exit(waitForSignal().rawValue)
        }
    }

    /// Waits for the next signal.
    private static func waitForSignal() -> ExitStatus {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        var signal: Int32 = 0
        while sigwait(&signals, &signal) != 0 {}
        return signal == SIGTERM ? .terminated : .interrupted
    }
}
