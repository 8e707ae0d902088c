public import EideticCore
public import EideticHTTP

extension DiskCache {
    /// A stored value with its key and metadata.
    public struct Entry: Sendable, Hashable {
        /// The key.
        public let key: String
        /// The value.
        public let bytes: [UInt8]
        /// The metadata of the value.
        public let metadata: Metadata

        /// Creates an entry.
        public init(key: String, bytes: [UInt8], metadata: Metadata = Metadata()) {
            self.key = key
            self.bytes = bytes
            self.metadata = metadata
        }
    }

    /// The metadata stored with an entry's bytes.
    public struct Metadata: Sendable, Hashable {
        /// A header field of the HTTP response.
        package typealias Field = HTTPHeaders.Field

        /// The time of the write; zero, the default, means the current time.
        public var storageTime = Timestamp(nanoseconds: 0)
        /// The time at which the entry expires; `nil`, the default, means the cache's maximum age after `storageTime`.
        public var expirationTime: Timestamp?
        /// The header fields; none by default.
        public var headers: [HTTPHeaders.Field] = []
        /// The facts about the response that are not in its header fields; none by default.
        package var response = ResponseRecord()
        /// Additional bytes for the caller's use; none by default.
        package var extendedData: [UInt8] = []
        /// The kind of the entry; original by default.
        package var kind = EntryKind.original
        /// The importance of the entry; `viewed` by default.
        package var importance = EntryImportance.viewed

        /// Creates metadata.
        public init(expirationTime: Timestamp? = nil, headers: [HTTPHeaders.Field] = []) {
            self.expirationTime = expirationTime
            self.headers = headers
        }
    }

    /// The number and size of a cache's entries.
    public struct Usage: Sendable, Hashable {
        /// Creates the usage of an empty cache.
        package init() {}

        /// The number of entries.
        public var entryCount = 0
        /// The sum of the file sizes.
        public var logicalSize = ByteCount.zero
        /// The space that the files use on the device.
        public var allocatedSize = ByteCount.zero
    }
}
