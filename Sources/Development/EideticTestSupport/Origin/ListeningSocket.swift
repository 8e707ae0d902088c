import EideticCore
import Glibc

/// Where a test's server listens.
package enum ListeningAddress: Sendable {
    /// 127.0.0.1
    case loopback
    /// ::1
    case loopback6
    /// Every IPv4 address of the machine, or of the network namespace of the thread that makes the server.
    case any

    /// Whether this machine has a loopback interface with IPv6.
    package static var hasIPv6: Bool { (try? ListeningSocket(on: .loopback6)) != nil }
}

/// A socket that listens on a free port.
///
/// Safe to send: the number does not change, and is closed when the last thread that accepts on it has let go.
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
        // The port has the same place in addresses of both kinds.
        port = Int(UInt16(bigEndian: storage.sin6_port))
        if error != 0 {
            throw EideticError(.refused, message: "no socket to listen on: \(SystemError.message(for: errno))")
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
        if case .loopback = address { ipv4.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian }
        withUnsafeMutableBytes(of: &place) { $0.storeBytes(of: ipv4, as: sockaddr_in.self) }
        return socklen_t(MemoryLayout<sockaddr_in>.size)
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
