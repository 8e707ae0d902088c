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

        /// A distinction between encoded originals and bytes that can be computed again.
        package enum Kind: UInt8, Sendable, Hashable, CaseIterable {
            /// The bytes as their origin sent them.
            case original
            /// Bytes computed from an original, for example a smaller rendition; evicted before originals.
            case derived
        }

        /// The value of an entry to the user, which decides how long it resists eviction.
        package enum Importance: UInt8, Sendable, Hashable, CaseIterable, Comparable {
            /// Prefetched and not yet read; a read changes it to `viewed`.
            case prefetched
            /// Loaded for display.
            case viewed
            /// Stored on the user's request; evicted only when no other entry is left.
            case user

            /// Returns `true` if an entry of the first importance is evicted before one of the second.
            package static func < (left: Importance, right: Importance) -> Bool { left.rawValue < right.rawValue }
        }

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
        package var kind = Kind.original
        /// The importance of the entry; `viewed` by default.
        package var importance = Importance.viewed

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

    /// An entry whose file is damaged.
    package struct DamagedEntry: Sendable, Hashable {
        /// The absolute path of the file.
        package let path: String
        /// A description of the damage.
        package let reason: String
    }
}
