import EideticCore
import Glibc

/// The address of a message bus on this machine: the path of its socket, or its abstract name.
///
/// - SeeAlso: D-Bus Specification, Server Addresses
package struct LocalBusAddress: Sendable, Hashable {
    private let address: LocalAddress

    /// Takes the first such address of a list; `nil` if there is none.
    ///
    /// Others execute programs, look for names in the network, or are not those of an existing bus.
    package init?(in list: String) {
        guard let address = list.split(separator: ";").lazy.compactMap(Self.address).first else { return nil }
        self.address = address
    }

    private static func address(in address: Substring) -> LocalAddress? {
        guard address.hasPrefix("unix:") else { return nil }
        for pair in address.dropFirst(5).split(separator: ",") {
            if pair.hasPrefix("path=/") { return LocalAddress(unescaped(pair.dropFirst(5))) }
            if pair.hasPrefix("abstract=") { return LocalAddress([0] + unescaped(pair.dropFirst(9))) }
        }
        return nil
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
        let number = address.connect()
        guard number >= 0 else { return number }
        let descriptor = FileDescriptor(adopting: number)
        var peer: (process: Int32, user: UInt32, group: UInt32) = (0, .max, .max)
        var size = socklen_t(MemoryLayout.size(ofValue: peer))
        guard getsockopt(number, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 else { return -errno }
        return peer.user == geteuid() ? descriptor.relinquish() : -EACCES
    }
}
