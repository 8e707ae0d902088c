package import EideticCore
import Glibc

/// Ports of the loopback interface.
package enum LoopbackPort {
    /// A port on which nobody listens now.
    package static func free() throws(EideticError) -> Int {
        let file = try socket()
        var (address, length) = Self.address(0)
        let error = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                Glibc.bind(file.number, pointer, length) | getsockname(file.number, pointer, &length)
            }
        }
        guard error == 0 else { throw failure("no free port") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Sends a request to a server on `port` and reads until it closes the connection; blocks.
    @discardableResult
    package static func exchange(_ request: String, _ port: Int) throws(EideticError) -> [UInt8] {
        let file = try connect(port)
        let bytes = Array(request.utf8)
        guard send(file.number, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw failure("port \(port)")
        }
        var answer: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while case let count = recv(file.number, &chunk, chunk.count, 0), count > 0 { answer += chunk[..<count] }
        return answer
    }

    /// Connects to a server on `port`; blocks.
    static func connect(_ port: Int) throws(EideticError) -> FileDescriptor {
        let file = try socket()
        var (address, length) = Self.address(UInt16(port))
        let error = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(file.number, $0, length) }
        }
        guard error == 0 else { throw failure("port \(port)") }
        return file
    }

    private static func socket() throws(EideticError) -> FileDescriptor {
        let number = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw failure("no socket") }
        return FileDescriptor(adopting: number)
    }

    private static func address(_ port: UInt16) -> (sockaddr_in, socklen_t) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return (address, socklen_t(MemoryLayout<sockaddr_in>.size))
    }

    private static func failure(_ what: String) -> EideticError {
        EideticError(.connectionRefused, "\(what): \(SystemError.message(errno))", systemErrorNumber: errno)
    }
}
