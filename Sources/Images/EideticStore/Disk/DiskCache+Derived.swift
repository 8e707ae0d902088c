package import EideticCore
package import struct FoundationEssentials.URL

/// Entries that were computed from another entry, the original, and are used only as long as its bytes are known.
extension DiskCache {
    /// The description of an original, which may have been replaced by a placeholder.
    package struct Original: Sendable {
        /// The checksum of the bytes.
        package let checksum: UInt64
        package let metadata: Metadata
        package let isExpired: Bool
        /// The entry that has taken the place of the bytes; `nil` if they are there.
        package var placeholder: Entry?
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

    /// Returns what is known of an original: of its entry, else of the placeholder that has replaced it.
    package func original(for key: String) async throws(EideticError) -> Original? {
        try await pool.run { _ throws(EideticError) in try self.blocking.original(for: key) }
    }

    /// Replaces an original by a placeholder, which keeps its checksum and metadata, and no bytes.
    ///
    /// Both are changed under the lock of the directory, so a new original that is stored meanwhile stays.
    ///
    /// - Parameters:
    ///   - key: The key of the original.
    ///   - checksum: The checksum of the bytes from which images were derived; an original with others stays.
    ///   - work: The work that the replacement is a part of.
    /// - Throws: The errors of ``insert(_:for:metadata:)``.
    package func replaceOriginalByPlaceholder(
        _ key: String,
        checksum: UInt64,
        within work: BackgroundWork
    ) async throws(EideticError) {
        try await perform(within: work) { () throws(EideticError) in
            try self.replaceStoredOriginal(key, checksum: checksum)
        }
    }

    fileprivate func replaceStoredOriginal(_ key: String, checksum: UInt64) throws(EideticError) {
        let key = storedKeyForReading(key), hash = CacheKey(key)
        let isReplaced = try inWriteTransaction { ledger throws(SystemError) in
            guard case .success(let found)? = try ledger.reader.summary(of: self.layout.path(of: hash)),
                found.footer.key.utf8.elementsEqual(key.utf8), found.footer.bodyChecksum == checksum
            else { return false }
            // A kill in between leaves both, and the original counts.
            try self.putPlaceholder(of: key, checksum: checksum, metadata: found.footer.metadata, in: ledger)
            return try ledger.remove(hash)
        }
        if isReplaced { currentHooks.didRemove?(key) }
    }

    /// Removes an original and its placeholder, so that nothing derived from it is used any more.
    package func removeOriginal(_ key: String) async throws(EideticError) {
        try await perform { () throws(EideticError) in _ = try self.blocking.removeOriginal(key) }
    }

    /// Returns the name of the placeholder of an original, of which a new original takes the place.
    static func placeholder(ofStored key: String) -> CacheKey { CacheKey(placeholderKey(of: key)) }

    /// Returns the key of the placeholder of an original.
    package static func placeholderKey(of key: String) -> String { key + placeholderSuffix }

    private static let placeholderSuffix = "\noriginal"

    /// Returns whether an entry has the bytes of a resource, and is neither derived nor a placeholder.
    package static func isOriginal(_ key: String, metadata: Metadata) -> Bool {
        metadata.kind == .original && !key.hasSuffix(placeholderSuffix)
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
            if known.placeholder == nil { cache.renewAge(of: hash, with: known.metadata) }
        }
        return DiskCache.DerivedEntry(entry: entry, original: known)
    }

    /// Returns what is known of an original; see ``DiskCache/original(for:)``.
    package func original(for key: String) throws(EideticError) -> DiskCache.Original? {
        if let info = try info(for: key) {
            return .init(checksum: info.bodyChecksum, metadata: info.metadata, isExpired: info.isExpired)
        }
        guard let entry = try read(DiskCache.placeholderKey(of: key)), entry.bytes.count == 8 else { return nil }
        let checksum = entry.bytes.withUnsafeBytes { $0.number(UInt64.self, at: 0) }
        return .init(checksum: checksum, metadata: entry.metadata, isExpired: false, placeholder: entry)
    }

    /// Replaces an original by a placeholder; see ``DiskCache/replaceOriginalByPlaceholder(_:checksum:within:)``.
    package func replaceOriginalByPlaceholder(_ key: String, checksum: UInt64) throws(EideticError) {
        try cache.covered { () throws(EideticError) in try cache.replaceStoredOriginal(key, checksum: checksum) }
    }

    /// Removes an original and its placeholder; see ``DiskCache/removeOriginal(_:)``.
    @discardableResult
    package func removeOriginal(_ key: String) throws(EideticError) -> URL? {
        let original = try remove(key)
        return try remove(DiskCache.placeholderKey(of: key)) ?? original
    }
}
