package import Glibc

/// The address of a socket on this machine: its path, or its abstract name.
package struct LocalAddress: Sendable, Hashable {
    /// The name as the kernel has it; an abstract one begins with a zero byte.
    private let name: [UInt8]

    /// Takes a name for which an address of the kernel has room; `nil` for others.
    package init?(_ name: [UInt8]) {
        guard name.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path), !name.isEmpty, name != [0],
            !name.dropFirst().contains(0)
        else { return nil }
        self.name = name
    }

    package init?(path: String) {
        guard path.utf8.first != 0 else { return nil }
        self.init(Array(path.utf8))
    }

    /// Calls `body` with the address and its length.
    package func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        // The length of an abstract name is that of the address; a path ends with a zero byte.
        let length = MemoryLayout<sa_family_t>.size + name.count + (name[0] == 0 ? 0 : 1)
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(length)) }
        }
    }

    /// Connects a stream that does not block; returns its descriptor, or a negative error number.
    package func connect() -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let number = socket(AF_UNIX, kind, 0)
        guard number >= 0 else { return -errno }
        let descriptor = FileDescriptor(adopting: number)
        let status = withPointer { Glibc.connect(number, $0, $1) }
        return status == 0 ? descriptor.relinquish() : -errno
    }

    /// Sends a datagram; without a receiver nothing is sent.
    package func send(_ bytes: [UInt8]) {
        let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return }
        let descriptor = FileDescriptor(adopting: number)
        _ = withPointer { sendto(descriptor.rawValue, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, $1) }
    }
}
