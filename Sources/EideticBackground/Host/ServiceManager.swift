import EideticCore
import Glibc

/// The service manager that started this process, if it wants to hear: one datagram a message, no library needed.
///
/// - SeeAlso: sd_notify(3), https://systemd.io/PORTABILITY_AND_STABILITY/
struct ServiceManager {
    private let address: [UInt8]
    private let progress = Progress()

    private final class Progress {
        var isStopping = false
    }

    /// Reads `NOTIFY_SOCKET`; absent, empty, or not a socket's path, nothing is sent.
    init(isEnabled: Bool, socketPath: String? = getenv("NOTIFY_SOCKET").map { String(cString: $0) }) {
        let path = Array((isEnabled ? socketPath ?? "" : "").utf8)
        let isUsable = path.count < 108 && (path.first == UInt8(ascii: "/") || path.first == UInt8(ascii: "@"))
        // "@" stands for the abstract namespace, whose names begin with a zero.
        address = isUsable ? [path[0] == UInt8(ascii: "@") ? 0 : path[0]] + path.dropFirst() : []
    }

    /// Whether there is one.
    var isPresent: Bool { !address.isEmpty }

    /// Clients may come.
    func reportReady() { send("READY=1") }

    /// One line for `systemctl status`.
    func reportStatus(_ line: String) { send("STATUS=\(line)") }

    /// The stop goes on for so long from now; the first time says that it has begun.
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
