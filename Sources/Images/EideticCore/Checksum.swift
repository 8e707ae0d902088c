import CXXHash

/// Checksums of stored bytes.
package enum Checksum {
    /// Returns the 64-bit XXH3 checksum of `bytes`.
    ///
    /// - Complexity: O(*n*), at tens of gigabytes per second.
    package static func value(of bytes: UnsafeRawBufferPointer) -> UInt64 {
        eidetic_checksum(bytes.baseAddress, bytes.count)
    }
}
