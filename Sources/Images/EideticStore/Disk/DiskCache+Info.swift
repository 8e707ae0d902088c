public import EideticCore

extension DiskCache {
    /// A description of an entry without its bytes.
    public struct EntryInfo: Sendable, Hashable {
        /// The key as stored, which contains header fields and credentials only as a digest made with the directory's
        /// key.
        public let key: String
        /// The absolute path of the entry's file, which begins with the entry's bytes.
        public let path: String
        /// The size of the value.
        public let size: ByteCount
        /// The space that the file uses on the device.
        public let allocatedSize: ByteCount
        /// The metadata of the entry.
        public let metadata: Metadata
        /// A Boolean value indicating whether the entry has expired.
        public let isExpired: Bool
        /// The checksum of the value (XXH3), which is not verified.
        package let bodyChecksum: UInt64
    }

    func entryInfo(for key: String) throws(EideticError) -> EntryInfo? {
        guard Self.isValidKey(key) else { return nil }
        try checkOpened()
        let key = storedKeyForReading(key)
        let path = layout.path(of: CacheKey(key))
        do throws(SystemError) {
            guard case .success(let summary)? = try reader.summary(of: path) else { return nil }
            guard summary.footer.key.utf8.elementsEqual(key.utf8) else { return nil }
            return entryInfo(from: summary, path: path)
        } catch {
            throw EideticError(error)
        }
    }

    /// Returns the time until an entry that is read or written now expires.
    ///
    /// - Parameter metadata: The metadata of the entry; a storage time of zero stands for the current time.
    /// - Returns: The time, which is zero for an expired entry.
    package func timeToLive(of metadata: Metadata) -> Duration {
        let now = time.now
        if let expirationTime = metadata.expirationTime { return max(.zero, expirationTime - now) }
        // A read of an entry of a directory that is never changed does not extend its life.
        let isRenewed = configuration.ageBasis == .access && !configuration.isReadOnly
        let start = isRenewed || metadata.storageTime.nanoseconds == 0 ? now : metadata.storageTime
        return max(.zero, start + configuration.maximumAge - now)
    }

    func entryInfo(from summary: EntryReader.EntrySummary, path: String) -> EntryInfo {
        let (footer, status) = (summary.footer, summary.status)
        return EntryInfo(
            key: footer.key,
            path: path,
            size: ByteCount(footer.bodySize),
            allocatedSize: ByteCount(status.allocatedSize),
            metadata: footer.metadata,
            isExpired: limits.isExpired(footer.metadata, modified: status.modificationTime, at: time.now),
            bodyChecksum: footer.bodyChecksum
        )
    }
}
