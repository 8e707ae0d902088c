import CNettle
import CXXHash

/// A cryptographic digest of 32 bytes, from which the digested bytes cannot be computed.
///
/// - SeeAlso: FIPS 180-4 (SHA-256), RFC 2104 (HMAC).
package struct Digest: Hashable, Sendable {
    /// The number of bytes.
    package static let size = 32

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
    package var hexadecimal: String { bytes.hexadecimal }
}

/// The digest that names the files of the SDWebImage family of caches; not for security.
///
/// - SeeAlso: RFC 1321.
package enum MD5 {
    private static let size = 16

    /// Returns the 32 hexadecimal digits of the digest of `bytes`.
    package static func hexadecimal(_ bytes: [UInt8]) -> String {
        [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            eidetic_md5(bytes, bytes.count, buffer.baseAddress)
            count = size
        }.hexadecimal
    }
}

extension [UInt8] {
    /// Two hexadecimal digits in lower case for each byte.
    fileprivate var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

/// Checksums of stored bytes.
package enum Checksum {
    /// Returns the 64-bit XXH3 checksum of `bytes`.
    ///
    /// - Complexity: O(*n*), at tens of gigabytes per second.
    package static func value(of bytes: UnsafeRawBufferPointer) -> UInt64 {
        eidetic_checksum(bytes.baseAddress, bytes.count)
    }
}
