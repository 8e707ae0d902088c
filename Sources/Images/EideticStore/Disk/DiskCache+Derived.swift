package import EideticCore

/// Entries that were computed from another entry, the original, and are used only as long as its bytes are known.
extension DiskCache {
    /// The description of an original.
    package struct Original: Sendable {
        /// The checksum of the bytes.
        package let checksum: UInt64
        package let metadata: Metadata
        package let isExpired: Bool
    }

    /// A derived entry, with the original that it may have been made from.
    package struct DerivedEntry: Sendable {
        package let entry: Entry
        /// The original, also an expired one; `nil` if there is none.
        package let original: Original?
    }

    /// Reads a derived entry, and the description of its original without the bytes.
    ///
    /// - Parameters:
    ///   - key: The key of the derived entry.
    ///   - original: The key of the original.
    ///   - context: The priority of the read.
    /// - Returns: `nil` if there is no entry of the kind `derived`.
    /// - Throws: The errors of ``read(_:allowingExpired:)``.
    package func derivedEntry(
        for key: String,
        from original: String,
        context: JobContext
    ) async throws(EideticError) -> DerivedEntry? {
        try await pool.run(in: context) { _ throws(EideticError) in
            try self.blocking.derivedEntry(for: key, from: original)
        }
    }

    /// Returns the description of an original, without its bytes; `nil` if there is none.
    package func original(for key: String) async throws(EideticError) -> Original? {
        try await pool.run { _ throws(EideticError) in try self.blocking.original(for: key) }
    }
}

extension DiskCache.Blocking {
    /// Reads a derived entry; see ``DiskCache/derivedEntry(for:from:context:)``.
    package func derivedEntry(
        for key: String,
        from original: String
    ) throws(EideticError) -> DiskCache.DerivedEntry? {
        guard let entry = try read(key), entry.metadata.kind == .derived else { return nil }
        let known = try self.original(for: original)
        // Without it the derived entry could not be used any more.
        if let known {
            let hash = CacheKey(cache.storedKeyForReading(original))
            cache.recordAccess(to: hash)
            cache.renewAge(of: hash, with: known.metadata)
        }
        return DiskCache.DerivedEntry(entry: entry, original: known)
    }

    /// Returns what is known of an original; see ``DiskCache/original(for:)``.
    package func original(for key: String) throws(EideticError) -> DiskCache.Original? {
        guard let info = try info(for: key) else { return nil }
        return .init(checksum: info.bodyChecksum, metadata: info.metadata, isExpired: info.isExpired)
    }
}
