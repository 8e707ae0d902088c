import CNettle

/// A cryptographic digest of 32 bytes, from which the digested bytes cannot be computed.
///
/// - SeeAlso: FIPS 180-4 (SHA-256), RFC 2104 (HMAC).
package struct Digest: Hashable, Sendable {
    /// The number of bytes.
    package static let size = 32

    /// The bytes.
    package let bytes: [UInt8]

    /// Computes the SHA-256 of a message.
    package init(sha256 message: [UInt8]) {
        bytes = [UInt8](unsafeUninitializedCapacity: Self.size) { buffer, count in
            eidetic_sha256(message, message.count, buffer.baseAddress)
            count = Self.size
        }
    }

    /// Computes the HMAC-SHA-256 of a message, which only who has the key can compute.
    package init(hmacSHA256 message: [UInt8], key: [UInt8]) {
        bytes = [UInt8](unsafeUninitializedCapacity: Self.size) { buffer, count in
            eidetic_hmac_sha256(key, key.count, message, message.count, buffer.baseAddress)
            count = Self.size
        }
    }

    /// The bytes as 64 hexadecimal digits in lower case.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
