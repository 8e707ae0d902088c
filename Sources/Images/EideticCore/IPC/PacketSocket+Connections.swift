import CLinux
import Glibc

extension PacketSocket {
    /// The user and process at the other end, as the kernel saw them when the connection was made.
    package struct Peer: Sendable, Hashable {
        package let process: Int32
        package let user: UInt32
        package let group: UInt32
    }

    package static func makePair() throws(SystemError) -> (PacketSocket, PacketSocket) {
        var numbers: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, kind, 0, &numbers) == 0 else { throw SystemError(.socket, errorNumber: errno) }
        return (PacketSocket(adopting: numbers[0]), PacketSocket(adopting: numbers[1]))
    }

    /// Listens at a path that does not exist, and which only this user may open (mode 0600).
    ///
    /// - Parameters:
    ///   - path: The path; at most 107 bytes.
    ///   - backlog: The number of connections that may wait to be accepted.
    /// - Returns: The listening socket.
    /// - Throws: `SystemError`; with `EADDRINUSE`, the path exists.
    package static func listen(at path: String, backlog: Int32 = 128) throws(SystemError) -> PacketSocket {
        let socket = try make()
        // The file takes its mode from the socket, so it is never open to others.
        guard fchmod(socket.rawValue, 0o600) == 0 else { throw SystemError(.chmod, errorNumber: errno, path: path) }
        let status = try withAddress(of: path) { bind(socket.rawValue, $0, $1) }
        guard status == 0 else { throw SystemError(.bind, errorNumber: errno, path: path) }
        guard Glibc.listen(socket.rawValue, backlog) == 0 else {
            throw SystemError(.listen, errorNumber: errno, path: path)
        }
        return socket
    }

    /// Listens at a path in place of a socket that an earlier process has left.
    package static func listen(replacing path: String) throws(SystemError) -> PacketSocket {
        do throws(SystemError) { try FileSystem().unlink(path) } catch  where error.errorNumber == ENOENT {}
        return try listen(at: path)
    }

    /// Connects to a listening socket; throws `SystemError` with `EAGAIN` if too many connections wait there.
    package static func connect(to path: String) throws(SystemError) -> PacketSocket {
        let socket = try make()
        let status = try withAddress(of: path) { Glibc.connect(socket.rawValue, $0, $1) }
        guard status == 0 else { throw SystemError(.connect, errorNumber: errno, path: path) }
        return socket
    }

    /// Accepts a connection; `nil` if none waits.
    package func accept() throws(SystemError) -> PacketSocket? {
        let number = eidetic_accept(rawValue)
        if number >= 0 { return PacketSocket(adopting: number) }
        guard [EAGAIN, EINTR, ECONNABORTED].contains(errno) else { throw SystemError(.accept, errorNumber: errno) }
        return nil
    }

    /// The process and user at the other end; `nil` if the socket is not connected.
    package var peer: Peer? {
        var (process, user, group): (Int32, UInt32, UInt32) = (0, 0, 0)
        guard eidetic_peer_credentials(rawValue, &process, &user, &group) == 0 else { return nil }
        return Peer(process: process, user: user, group: group)
    }

    /// The path to which the socket is bound; `nil` if it has none.
    package var path: String? {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(rawValue, $0, &length) }
        }
        guard status == 0, address.sun_family == sa_family_t(AF_UNIX) else { return nil }
        let path = withUnsafeBytes(of: address.sun_path) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return path.isEmpty ? nil : path
    }

    private static var kind: Int32 {
        Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    }

    private static func make() throws(SystemError) -> PacketSocket {
        let number = socket(AF_UNIX, kind, 0)
        guard number >= 0 else { throw SystemError(.socket, errorNumber: errno) }
        return PacketSocket(adopting: number)
    }

    private static func withAddress(
        of path: String,
        body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(SystemError) -> Int32 {
        guard let address = LocalAddress(path: path) else {
            throw SystemError(.bind, errorNumber: ENAMETOOLONG, path: path)
        }
        return address.withPointer(body)
    }
}
