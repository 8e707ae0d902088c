import CCurl
import Glibc

/// An IPv4 or IPv6 address, classified as public or for a special purpose.
package struct NetworkAddress: Hashable, Sendable, CustomStringConvertible {
    /// The 4 or 16 bytes of the address in network order.
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// Creates an address from a socket address; `nil` for a family other than IPv4 and IPv6.
    init?(_ address: UnsafePointer<sockaddr>) {
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            let address = raw.loadUnaligned(as: sockaddr_in.self)
            bytes = withUnsafeBytes(of: address.sin_addr) { Array($0) }
        case AF_INET6:
            let address = raw.loadUnaligned(as: sockaddr_in6.self)
            bytes = withUnsafeBytes(of: address.sin6_addr) { Array($0) }
        default: return nil
        }
    }

    /// A Boolean value indicating whether the address is reachable on the public Internet.
    ///
    /// - SeeAlso: The IANA registries of special-purpose addresses (RFC 6890).
    package var isPublic: Bool {
        guard bytes.count == 16 else {
            return bytes.count == 4 && !Self.specialIPv4Blocks.contains { $0.contains(bytes) }
        }
        if let embedded = embeddedIPv4 { return embedded.isPublic }
        // IANA allocates global unicast addresses from 2000::/3 only, with exceptions within it.
        return bytes[0] & 0xe0 == 0x20 && !Self.specialIPv6Blocks.contains { $0.contains(bytes) }
    }

    /// The IPv4 destination of packets for this IPv6 address: mapped, translated (NAT64) or tunnelled (6to4).
    private var embeddedIPv4: NetworkAddress? {
        let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xff && bytes[11] == 0xff
        let isTranslated = bytes[..<12].elementsEqual([0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0])
        if isMapped || isTranslated { return NetworkAddress(bytes: Array(bytes[12...])) }
        if bytes[0] == 0x20, bytes[1] == 0x02 { return NetworkAddress(bytes: Array(bytes[2..<6])) }
        return nil
    }

    private struct AddressBlock {
        let prefix: [UInt8]
        let prefixLength: Int

        init(_ prefix: [UInt8], prefixLength: Int) {
            self.prefix = prefix
            self.prefixLength = prefixLength
        }

        func contains(_ bytes: [UInt8]) -> Bool {
            (0..<prefixLength).allSatisfy { bit in
                let mask = UInt8(0x80) >> UInt8(bit % 8)
                return bytes[bit / 8] & mask == (bit / 8 < prefix.count ? prefix[bit / 8] : 0) & mask
            }
        }
    }

    private static let specialIPv4Blocks = [
        AddressBlock([0], prefixLength: 8), AddressBlock([10], prefixLength: 8),
        AddressBlock([100, 64], prefixLength: 10), AddressBlock([127], prefixLength: 8),
        AddressBlock([169, 254], prefixLength: 16), AddressBlock([172, 16], prefixLength: 12),
        AddressBlock([192, 0, 0], prefixLength: 24), AddressBlock([192, 0, 2], prefixLength: 24),
        AddressBlock([192, 88, 99], prefixLength: 24), AddressBlock([192, 168], prefixLength: 16),
        AddressBlock([198, 18], prefixLength: 15), AddressBlock([198, 51, 100], prefixLength: 24),
        AddressBlock([203, 0, 113], prefixLength: 24), AddressBlock([224], prefixLength: 4),
        AddressBlock([240], prefixLength: 4),
    ]

    private static let specialIPv6Blocks = [
        AddressBlock([0x20, 0x01, 0x00], prefixLength: 23), AddressBlock([0x20, 0x01, 0x0d, 0xb8], prefixLength: 32),
        AddressBlock([0x3f, 0xff, 0x00], prefixLength: 20),
    ]

    /// The address as text.
    package var description: String {
        guard bytes.count == 16 else { return bytes.map(String.init).joined(separator: ".") }
        let words = stride(from: 0, to: 16, by: 2).map { Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]) }
        return words.map { String($0, radix: 16) }.joined(separator: ":")
    }
}
