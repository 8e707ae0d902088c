import EideticCore

extension DiskIndex {
    /// An entry in its queue, in 40 bytes.
    struct Node: Sendable, BitwiseCopyable {
        private let high: UInt64
        private let low: UInt64
        let size: UInt32
        let expirationSeconds: UInt32
        /// The clock of the entry's group at the latest access.
        var clock: Float = 0
        var previous = UInt32.none
        var next = UInt32.none
        var queue = UInt16.none
        var accessCount: UInt8
        private var flags: UInt8

        init(_ entry: IndexEntry) {
            high = entry.key.high
            low = entry.key.low
            size = entry.size
            expirationSeconds = entry.expirationSeconds
            accessCount = max(1, entry.accessCount)
            flags = entry.kind.rawValue | entry.importance.rawValue << 1
        }

        var key: CacheKey { CacheKey(high: high, low: low) }

        var kind: EntryKind { flags & 1 == 0 ? .original : .derived }

        var importance: EntryImportance {
            get { EntryImportance(rawValue: flags >> 1) ?? .viewed }
            set { flags = flags & 1 | newValue.rawValue << 1 }
        }

        var entry: IndexEntry {
            var entry = IndexEntry()
            entry.key = key
            entry.size = size
            entry.expirationSeconds = expirationSeconds
            entry.accessCount = accessCount
            entry.kind = kind
            entry.importance = importance
            return entry
        }
    }
}
