#if Redis
/// A node's reply that another node has a slot.
struct Redirection: Sendable, Hashable {
    /// The node that has the slot.
    let server: RedisServer
    /// A Boolean value indicating whether the other node has the slot from now on (`MOVED`), and not only the key of
    /// this one command while the slot is on its way (`ASK`).
    let isPermanent: Bool
    let slot: Int

    /// Parses the text of an error; `nil` for one that is no redirection.
    ///
    /// - Parameters:
    ///   - text: The text, such as `MOVED 3999 127.0.0.1:6381`.
    ///   - replier: The node that has sent it; an empty host stands for its host.
    init?(_ text: String, from replier: RedisServer) {
        let parts = text.split(separator: " ")
        guard parts.count == 3, parts[0] == "MOVED" || parts[0] == "ASK", let slot = Int(parts[1]),
            (0..<KeySlot.count).contains(slot), let colon = parts[2].lastIndex(of: ":"),
            let port = Int(parts[2][parts[2].index(after: colon)...]), (1...65_535).contains(port)
        else { return nil }
        var host = String(parts[2][..<colon])
        if host.isEmpty || host == "?", case .tcp(let own, _) = replier { host = own }
        server = .tcp(host: host, port: port)
        isPermanent = parts[0] == "MOVED"
        self.slot = slot
    }
}

/// The slots of a cluster, over which keys are distributed.
///
/// - SeeAlso: https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/
package enum KeySlot {
    package static let count = 16_384

    /// Returns the slot of a key: that of the text in its first braces, or else of the whole key.
    package static func slot(of key: String) -> Int {
        let bytes = Array(key.utf8)
        guard let open = bytes.firstIndex(of: UInt8(ascii: "{")),
            let close = bytes[(open + 1)...].firstIndex(of: UInt8(ascii: "}")), close > open + 1
        else { return Int(checksum(of: bytes[...])) % count }
        return Int(checksum(of: bytes[(open + 1)..<close])) % count
    }

    /// Computes the CRC-16 with the polynomial x¹⁶ + x¹² + x⁵ + 1, most significant bit first.
    private static func checksum(of bytes: ArraySlice<UInt8>) -> UInt16 {
        bytes.reduce(0) { checksum, byte in
            (0..<8).reduce(checksum ^ UInt16(byte) << 8) { value, _ in
                value & 0x8000 == 0 ? value << 1 : value << 1 ^ 0x1021
            }
        }
    }
}
#endif
