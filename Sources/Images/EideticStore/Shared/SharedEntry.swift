package import EideticCore

/// The value of an entry in a shared tier: the bytes of an entry's file, so that one reader verifies both.
package enum SharedEntry {
    /// The largest number of bytes that the format adds to the bytes of an image.
    ///
    /// Header fields and keys are rarely longer; a value that is larger than the tier's limit all the same is refused.
    package static let overhead = 16_384

    /// Encodes an entry.
    ///
    /// - Complexity: O(*n*) in the number of bytes, which are copied once.
    package static func encode(_ entry: DiskCache.Entry) -> [UInt8] {
        let footer = entry.bytes.withUnsafeBytes {
            EntryFile.encodedFooter(for: $0, key: entry.key, metadata: entry.metadata)
        }
        return [UInt8](unsafeUninitializedCapacity: entry.bytes.count + footer.count) { buffer, count in
            _ = buffer[..<entry.bytes.count].update(fromContentsOf: entry.bytes)
            _ = buffer[entry.bytes.count...].update(fromContentsOf: footer)
            count = entry.bytes.count + footer.count
        }
    }

    /// Verifies a value, and returns its entry.
    ///
    /// - Parameters:
    ///   - value: The value, which becomes the entry's bytes without a copy if nobody else holds it.
    ///   - key: The key that the value must contain; `nil` for any.
    /// - Returns: The entry.
    /// - Throws: `checksumMismatch` for a value that is damaged, foreign, or of another key.
    package static func decode(
        _ value: consuming [UInt8],
        expecting key: String?
    ) throws(EideticError) -> DiskCache.Entry {
        do throws(EntryFile.FormatError) {
            return try EntryFile.decodeEntry(value, expecting: key)
        } catch {
            throw EideticError(.checksumMismatch, message: "shared entry: \(error)")
        }
    }
}
