import EideticCore
import Glibc

/// A socket that listens, by default on a free port.
///
/// Safe to send: the descriptor does not change, and is closed once no thread refers to the socket.
final class ListeningSocket: Sendable {
    private let number: Int32
    let port: Int

    init(on address: ListeningAddress = .loopback) throws(EideticError) {
        let isIPv6 = if case .loopback6 = address { true } else { false }
        number = socket(isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var storage = sockaddr_in6()
        var length = Self.write(address, into: &storage)
        let number = number
        let error = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(number, pointer, length) | listen(number, 512) | getsockname(number, pointer, &length)
            }
        }
        // The port has the same offset in IPv4 and IPv6 addresses.
        port = Int(UInt16(bigEndian: storage.sin6_port))
        if error != 0 {
            throw EideticError(.refused, message: "cannot listen on a socket: \(SystemError.message(for: errno))")
        }
    }

    private static func write(_ address: ListeningAddress, into place: inout sockaddr_in6) -> socklen_t {
        if case .loopback6 = address {
            place.sin6_family = sa_family_t(AF_INET6)
            withUnsafeMutableBytes(of: &place.sin6_addr) { $0[15] = 1 }
            return socklen_t(MemoryLayout<sockaddr_in6>.size)
        }
        var ipv4 = sockaddr_in()
        ipv4.sin_family = sa_family_t(AF_INET)
        if case .any = address {} else { ipv4.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian }
        if case .port(let port) = address { ipv4.sin_port = UInt16(port).bigEndian }
        withUnsafeMutableBytes(of: &place) { $0.storeBytes(of: ipv4, as: sockaddr_in.self) }
        return socklen_t(MemoryLayout<sockaddr_in>.size)
    }

    deinit { close(number) }

    /// Waits for a client and returns its descriptor; `nil` after `stop()`.
    func accept() -> Int32? {
        while true {
            let client = Glibc.accept(number, nil, nil)
            if client >= 0 {
                // A child process of the test must not inherit the connection and keep it open.
                _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                return client
            }
            if errno != EINTR, errno != ECONNABORTED { return nil }
        }
    }

    /// Makes all current and later calls of `accept()` return `nil`.
    func stop() { _ = shutdown(number, Int32(SHUT_RDWR)) }
}
