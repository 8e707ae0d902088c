import CCurl
import Glibc

/// An IPv4 or IPv6 address, as the guard against private networks sees it.
package struct NetworkAddress: Hashable, Sendable, CustomStringConvertible {
    /// 4 or 16 bytes in network order.
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// Reads a socket address; `nil` for families other than IPv4 and IPv6.
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

    /// Whether anybody on the Internet may have this address.
    ///
    /// - SeeAlso: The IANA registries of special-purpose addresses (RFC 6890).
    package var isPublic: Bool {
        guard bytes.count == 16 else { return bytes.count == 4 && !Self.special4.contains { $0.holds(bytes) } }
        if let inner = embeddedIPv4 { return inner.isPublic }
        // Only 2000::/3 is given out; within it some blocks are set aside.
        return bytes[0] & 0xe0 == 0x20 && !Self.special6.contains { $0.holds(bytes) }
    }

    /// The IPv4 address that packets for this IPv6 address end at: mapped, translated (NAT64) or tunnelled (6to4).
    private var embeddedIPv4: NetworkAddress? {
        let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xff && bytes[11] == 0xff
        let isTranslated = bytes[..<12].elementsEqual([0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0])
        if isMapped || isTranslated { return NetworkAddress(bytes: Array(bytes[12...])) }
        if bytes[0] == 0x20, bytes[1] == 0x02 { return NetworkAddress(bytes: Array(bytes[2..<6])) }
        return nil
    }

    private struct Block {
        let prefix: [UInt8]
        let bits: Int

        func holds(_ bytes: [UInt8]) -> Bool {
            (0..<bits).allSatisfy { bit in
                let mask = UInt8(0x80) >> UInt8(bit % 8)
                return bytes[bit / 8] & mask == (bit / 8 < prefix.count ? prefix[bit / 8] : 0) & mask
            }
        }
    }

    private static let special4 = [
        Block(prefix: [0], bits: 8), Block(prefix: [10], bits: 8), Block(prefix: [100, 64], bits: 10),
        Block(prefix: [127], bits: 8), Block(prefix: [169, 254], bits: 16), Block(prefix: [172, 16], bits: 12),
        Block(prefix: [192, 0, 0], bits: 24), Block(prefix: [192, 0, 2], bits: 24),
        Block(prefix: [192, 88, 99], bits: 24), Block(prefix: [192, 168], bits: 16),
        Block(prefix: [198, 18], bits: 15), Block(prefix: [198, 51, 100], bits: 24),
        Block(prefix: [203, 0, 113], bits: 24), Block(prefix: [224], bits: 4), Block(prefix: [240], bits: 4),
    ]

    private static let special6 = [
        Block(prefix: [0x20, 0x01, 0x00], bits: 23), Block(prefix: [0x20, 0x01, 0x0d, 0xb8], bits: 32),
        Block(prefix: [0x3f, 0xff, 0x00], bits: 20),
    ]

    /// The address as text.
    package var description: String {
        guard bytes.count == 16 else { return bytes.map(String.init).joined(separator: ".") }
        let words = stride(from: 0, to: 16, by: 2).map { Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]) }
        return words.map { String($0, radix: 16) }.joined(separator: ":")
    }
}
