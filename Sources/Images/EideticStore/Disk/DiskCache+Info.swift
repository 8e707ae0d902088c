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
}

extension DiskCache.EntryInfo {
    init(_ summary: EntryReader.EntrySummary, path: String, in directory: SharedDirectory) {
        let footer = summary.footer
        let status = summary.status
        let now = directory.time.now
        self.init(
            key: footer.key,
            path: path,
            size: ByteCount(footer.bodySize),
            allocatedSize: ByteCount(status.allocatedSize),
            metadata: footer.metadata,
            isExpired: directory.ages.isExpired(footer.metadata, modified: status.modificationTime, at: now),
            bodyChecksum: footer.bodyChecksum
        )
    }
}
