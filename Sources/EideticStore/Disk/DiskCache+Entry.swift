public import EideticCore

extension DiskCache {
    /// What is stored for a key, with all that was stored beside it.
    public struct Entry: Sendable, Hashable {
        /// The key, as it stands in the file.
        public let key: String
        /// The value.
        public let bytes: [UInt8]
        /// What was stored beside the value.
        public let metadata: Metadata

        package init(key: String, bytes: [UInt8], metadata: Metadata) {
            (self.key, self.bytes, self.metadata) = (key, bytes, metadata)
        }
    }

    /// What is stored beside an entry's bytes.
    public struct Metadata: Sendable, Hashable {
        /// A named text, such as a field of the HTTP response.
        public struct Field: Sendable, Hashable {
            /// Its name, in the case in which it came.
            public var name: String
            /// Its value.
            public var value: String

            /// Creates a field.
            public init(name: String, value: String) {
                self.name = name
                self.value = value
            }
        }

        /// Whether the bytes came from outside or can be made again.
        public enum Kind: UInt8, Sendable, Hashable, CaseIterable {
            /// As it came from its origin.
            case original
            /// Made from an original: smaller, transformed. Goes before originals where room is short.
            case derived
        }

        /// How much an entry is worth to the user.
        public enum Importance: UInt8, Sendable, Hashable, CaseIterable, Comparable {
            /// Loaded in advance and not seen yet; it becomes `viewed` when it is read.
            case prefetched
            /// Loaded because it was shown.
            case viewed
            /// Put in by the user; goes only when nothing else is left.
            case user

            /// Orders from what goes first to what stays longest.
            public static func < (left: Importance, right: Importance) -> Bool { left.rawValue < right.rawValue }
        }

        /// When the entry was written; zero, the default, becomes the time of the write.
        public var storageTime = Timestamp(nanoseconds: 0)
        /// When it stops being served; `nil`, the default, is the cache's maximum age after `stored`.
        public var expirationTime: Timestamp?
        /// Named texts; none by default.
        public var headers: [Field] = []
        /// Bytes of the caller's own; none by default.
        public var extendedData: [UInt8] = []
        /// Original by default.
        public var kind = Kind.original
        /// `viewed` by default.
        public var importance = Importance.viewed

        /// Creates metadata.
        public init(expirationTime: Timestamp? = nil, headers: [Field] = []) {
            self.expirationTime = expirationTime
            self.headers = headers
        }
    }

    /// What is known of an entry without its bytes.
    public struct EntryInfo: Sendable, Hashable {
        /// The key.
        public let key: String
        /// The file, as an absolute path; it begins with the entry's bytes.
        public let path: String
        /// The bytes of the value.
        public let size: ByteCount
        /// The bytes that the file takes on the device.
        public let allocatedSize: ByteCount
        /// What was stored beside the value.
        public let metadata: Metadata
        /// Whether it is too old to be served.
        public let isExpired: Bool
    }

    /// What a cache holds.
    public struct Usage: Sendable, Hashable {
        /// Creates the usage of an empty cache.
        public init() {}

        /// The number of entries.
        public var entryCount = 0
        /// The bytes of the entries' files.
        public var logicalSize = ByteCount.zero
        /// The bytes that the files take on the device.
        public var allocatedSize = ByteCount.zero
    }

    /// An entry's file that cannot be served.
    public struct DamagedEntry: Sendable, Hashable {
        /// The file, as an absolute path.
        public let path: String
        /// What is wrong with it, in words.
        public let reason: String
    }
}
