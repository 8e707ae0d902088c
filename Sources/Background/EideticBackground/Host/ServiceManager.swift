import EideticCore
import Glibc

/// A client of the service manager that started this process: one datagram per message, without a library.
///
/// - SeeAlso: sd_notify(3), https://systemd.io/PORTABILITY_AND_STABILITY/
struct ServiceManager {
    private let address: [UInt8]
    private let progress = Progress()

    private final class Progress {
        var isStopping = false
    }

    /// Creates a client with the address in `NOTIFY_SOCKET`; nothing is sent if it is not the path of a socket.
    init(isEnabled: Bool, socketPath: String? = getenv("NOTIFY_SOCKET").map { String(cString: $0) }) {
        let path = Array((isEnabled ? socketPath ?? "" : "").utf8)
        let isUsable = path.count < 108 && (path.first == UInt8(ascii: "/") || path.first == UInt8(ascii: "@"))
        // "@" stands for the abstract namespace, whose names begin with a null byte.
        address = isUsable ? [path[0] == UInt8(ascii: "@") ? 0 : path[0]] + path.dropFirst() : []
    }

    var isPresent: Bool { !address.isEmpty }

    func reportReady() { send("READY=1") }

    /// Sets the line that `systemctl status` shows.
    func reportStatus(_ line: String) { send("STATUS=\(line)") }

    /// Extends the stop timeout; the first call also reports the start of the stop.
    func extendStopTimeout(by duration: Duration) {
        let microseconds = duration.inNanoseconds / 1_000
        send("\(progress.isStopping ? "" : "STOPPING=1\n")EXTEND_TIMEOUT_USEC=\(microseconds)")
        progress.isStopping = true
    }

    private func send(_ message: String) {
        guard isPresent else { return }
        let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return }
        defer { close(number) }
        var target = sockaddr_un()
        target.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &target.sun_path) { $0.copyBytes(from: address) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + address.count)
        let bytes = Array(message.utf8)
        withUnsafePointer(to: &target) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                _ = sendto(number, bytes, bytes.count, Int32(MSG_NOSIGNAL), pointer, length)
            }
        }
    }
}
