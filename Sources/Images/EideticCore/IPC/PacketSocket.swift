import CLinux
import Glibc

/// One end of a connection between processes of this machine, which keeps the bounds of packets (SOCK_SEQPACKET).
///
/// No call waits: poll ``rawValue`` for reading or writing. The connection is closed with the object.
///
/// - SeeAlso: unix(7)
package final class PacketSocket: Sendable {
    /// The number of the descriptor, for `poll`.
    package var rawValue: Int32 { descriptor.rawValue }
    private let descriptor: FileDescriptor

    /// The greatest length of a packet: 64 KiB.
    package static let maximumPacketLength = 65_536
    package static let maximumDescriptorCount = 16

    /// Adopts a descriptor, such as one that was inherited.
    package init(adopting number: Int32) { descriptor = FileDescriptor(adopting: number) }

    /// Sends a packet, with duplicates of the descriptors.
    ///
    /// - Returns: `false` if the receiver's queue is full: try again when the socket is writable.
    package func send(_ bytes: [UInt8], descriptors: [Int32] = []) throws(SystemError) -> Bool {
        guard bytes.count <= Self.maximumPacketLength else { throw SystemError(.send, errorNumber: EMSGSIZE) }
        let count = eidetic_send_packet(rawValue, bytes, bytes.count, descriptors, descriptors.count)
        if count >= 0 { return true }
        guard errno == EAGAIN || errno == ENOBUFS else { throw SystemError(.send, errorNumber: errno) }
        return false
    }

    /// Receives a packet.
    ///
    /// - Returns: The next packet, `.none` if there is none now, `.end` if the other end was closed.
    /// - Throws: `SystemError`; with `EMSGSIZE`, the packet was longer than 64 KiB and is lost.
    package func receive() throws(SystemError) -> Reception { try receive(isAfterReset: false) }

    private func receive(isAfterReset: Bool) throws(SystemError) -> Reception {
        var descriptors = [Int32](repeating: -1, count: Self.maximumDescriptorCount)
        var descriptorCount = descriptors.count
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.maximumPacketLength) { buffer, initialized in
            count = eidetic_receive_packet(
                rawValue,
                buffer.baseAddress,
                buffer.count,
                &descriptors,
                &descriptorCount
            )
            initialized = max(0, count)
        }
        if count > 0 { return .packet(Packet(bytes: Array(bytes), adopting: descriptors.prefix(descriptorCount))) }
        if count == 0 { return .end }
        switch errno {
        case EAGAIN: return .none
        // An end that had unread packets itself is reported before the packets that it sent.
        case ECONNRESET: return isAfterReset ? .end : try receive(isAfterReset: true)
        default: throw SystemError(.receive, errorNumber: errno)
        }
    }

}

extension PacketSocket {
    /// The outcome of ``receive()``.
    package enum Reception: Sendable {
        case packet(Packet)
        case none
        case end
    }

    /// A received packet; its descriptors are closed with it unless they are taken.
    package final class Packet: Sendable {
        /// The bytes; one or more.
        package let bytes: [UInt8]
        private let descriptors: Guarded<[Int32]>

        /// Creates a packet without descriptors.
        package convenience init(_ bytes: [UInt8]) { self.init(bytes: bytes, adopting: []) }

        init(bytes: [UInt8], adopting numbers: some Sequence<Int32>) {
            self.bytes = bytes
            descriptors = Guarded(Array(numbers))
        }

        deinit { for number in takeDescriptors() { close(number) } }

        /// Returns the descriptors, which the caller must close; none at the second call.
        package func takeDescriptors() -> [Int32] {
            descriptors.withLock { numbers in
                defer { numbers = [] }
                return numbers
            }
        }
    }
}
