import EideticCore
import Glibc

/// A socket that listens on a free port of the loopback interface.
///
/// Safe to send: the number does not change, and is closed when the last thread that accepts on it has let go.
final class ListeningSocket: Sendable {
    private let number: Int32
    let port: Int

    init() throws(EideticError) {
        number = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let number = number
        let error = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(number, pointer, length) | listen(number, 512) | getsockname(number, pointer, &length)
            }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        if error != 0 { throw EideticError(.refused, "no socket to listen on: \(SystemError.message(errno))") }
    }

    deinit { close(number) }

    /// Waits for a client; `nil` after `stop`.
    func accept() -> Int32? {
        while true {
            let client = Glibc.accept(number, nil, nil)
            if client >= 0 {
                // A program that a test starts must not hold the connection open.
                _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                return client
            }
            if errno != EINTR, errno != ECONNABORTED { return nil }
        }
    }

    /// Ends `accept`, now and later.
    func stop() { _ = shutdown(number, Int32(SHUT_RDWR)) }
}
