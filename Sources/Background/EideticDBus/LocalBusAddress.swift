import EideticCore
import Glibc

/// The address of a message bus on this machine: the path of its socket, or its abstract name.
///
/// - SeeAlso: D-Bus Specification, Server Addresses
package struct LocalBusAddress: Sendable, Hashable {
    /// The name as the kernel has it; an abstract one begins with a zero byte.
    private let name: [UInt8]

    /// Takes the first such address of a list; `nil` if there is none.
    ///
    /// Others execute programs, look for names in the network, or are not those of an existing bus.
    package init?(in list: String) {
        guard let name = list.split(separator: ";").lazy.compactMap(Self.name).first else { return nil }
        self.name = name
    }

    private static func name(in address: Substring) -> [UInt8]? {
        guard address.hasPrefix("unix:") else { return nil }
        for pair in address.dropFirst(5).split(separator: ",") {
            if pair.hasPrefix("path=/") { return checked(unescaped(pair.dropFirst(5))) }
            if pair.hasPrefix("abstract=") { return checked([0] + unescaped(pair.dropFirst(9))) }
        }
        return nil
    }

    /// Returns a name that has room in an address of the kernel; `nil` for others.
    private static func checked(_ name: [UInt8]) -> [UInt8]? {
        let isUsable = name.count > 1 && name.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        return isUsable && !name.dropFirst().contains(0) ? name : nil
    }

    /// Replaces "%2d" by its byte; what is no such code stays.
    private static func unescaped(_ text: Substring) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text.utf8
        while let byte = rest.popFirst() {
            let digits = byte == UInt8(ascii: "%") ? String(decoding: rest.prefix(2), as: UTF8.self) : ""
            let code = UInt8(digits, radix: 16)
            if code != nil { rest = rest.dropFirst(2) }
            bytes.append(code ?? byte)
        }
        return bytes
    }

    /// Connects to the bus; returns the descriptor, or a negative error number, also for the bus of another user.
    ///
    /// Nothing is sent.
    func connect() -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let number = socket(AF_UNIX, kind, 0)
        guard number >= 0 else { return -errno }
        let descriptor = FileDescriptor(adopting: number)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        // The length of an abstract name is that of the address; a path ends with a zero byte.
        let length = MemoryLayout<sa_family_t>.size + name.count + (name[0] == 0 ? 0 : 1)
        let status = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(number, $0, socklen_t(length))
            }
        }
        guard status == 0 else { return -errno }
        var peer: (process: Int32, user: UInt32, group: UInt32) = (0, .max, .max)
        var size = socklen_t(MemoryLayout.size(ofValue: peer))
        guard getsockopt(number, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 else { return -errno }
        return peer.user == geteuid() ? descriptor.relinquish() : -EACCES
    }
}
