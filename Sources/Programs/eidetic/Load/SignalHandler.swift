import EideticCLI
import EideticCore
import Glibc

/// The handling of SIGINT (Ctrl-C) and SIGTERM on a dedicated thread.
enum SignalHandler {
    /// Installs the handling: the first signal calls `body`, the second one exits the process at once.
    ///
    /// Must be called before any other thread is started, because threads inherit the signal mask. A signal that was
    /// ignored at the start of the process (`nohup`, `&` in a script) stays ignored.
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

    /// Waits for the next signal and returns its exit status.
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
