package import EideticCore
import Glibc

/// Unused ports of the loopback interface, and blocking connections to used ones.
package enum LoopbackPort {
    /// Returns a port that no process listens on at the moment.
    package static func unused() throws(EideticError) -> Int {
        let file = try socket()
        var (address, length) = Self.address(port: 0)
        let error = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                Glibc.bind(file.rawValue, pointer, length) | getsockname(file.rawValue, pointer, &length)
            }
        }
        guard error == 0 else { throw connectionError("no free port") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Sends a request to a server and returns all bytes until it closes the connection.
    ///
    /// Blocks the thread.
    @discardableResult
    package static func sendRequest(_ request: String, port: Int) throws(EideticError) -> [UInt8] {
        let file = try connect(to: port)
        let bytes = Array(request.utf8)
        guard send(file.rawValue, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw connectionError("port \(port)")
        }
        var response: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while case let count = recv(file.rawValue, &chunk, chunk.count, 0), count > 0 { response += chunk[..<count] }
        return response
    }

    /// Connects to a server on `port`; blocks the thread.
    static func connect(to port: Int) throws(EideticError) -> FileDescriptor {
        let file = try socket()
        var (address, length) = Self.address(port: UInt16(port))
        let error = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(file.rawValue, $0, length) }
        }
        guard error == 0 else { throw connectionError("port \(port)") }
        return file
    }

    private static func socket() throws(EideticError) -> FileDescriptor {
        let number = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw connectionError("no socket") }
        return FileDescriptor(adopting: number)
    }

    private static func address(port: UInt16) -> (sockaddr_in, socklen_t) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return (address, socklen_t(MemoryLayout<sockaddr_in>.size))
    }

    private static func connectionError(_ description: String) -> EideticError {
        EideticError(
            .connectionRefused,
            message: "\(description): \(SystemError.message(for: errno))",
            systemErrorNumber: errno
        )
    }
}
