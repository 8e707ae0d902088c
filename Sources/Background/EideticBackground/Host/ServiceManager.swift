import EideticCore
import Glibc

/// A client of the service manager that started this process: one datagram per message, without a library.
///
/// - SeeAlso: sd_notify(3), https://systemd.io/PORTABILITY_AND_STABILITY/
struct ServiceManager {
    private let address: LocalAddress?
    private let progress = Progress()

    private final class Progress {
        var isStopping = false
    }

    /// Creates a client with the address in `NOTIFY_SOCKET`; nothing is sent if it is not the path of a socket.
    init(isEnabled: Bool, socketPath: String? = getenv("NOTIFY_SOCKET").map { String(cString: $0) }) {
        let path = Array((isEnabled ? socketPath ?? "" : "").utf8)
        address =
            switch path.first {
            case UInt8(ascii: "/"): LocalAddress(path)
            // It stands for the abstract namespace, whose names begin with a null byte.
            case UInt8(ascii: "@"): LocalAddress([0] + path.dropFirst())
            default: nil
            }
    }

    var isPresent: Bool { address != nil }

    func reportReady() { send("READY=1") }

    /// Sets the line that `systemctl status` shows.
    func reportStatus(_ line: String) { send("STATUS=\(line)") }

    /// Extends the stop timeout; the first call also reports the start of the stop.
    func extendStopTimeout(by duration: Duration) {
        let microseconds = duration.inNanoseconds / 1_000
        send("\(progress.isStopping ? "" : "STOPPING=1\n")EXTEND_TIMEOUT_USEC=\(microseconds)")
        progress.isStopping = true
    }

    private func send(_ message: String) { address?.send(Array(message.utf8)) }
}
