#if Redis
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
