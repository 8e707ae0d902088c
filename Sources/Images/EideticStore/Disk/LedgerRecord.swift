import EideticCore

/// One record of the ledger: 64 bytes, so that none crosses a page and each is written completely or not at all.
///
/// | offset | bytes | content |
/// |---|---|---|
/// | 0 | 1 | event |
/// | 1 | 1 | kind of the entry |
/// | 2 | 1 | importance |
/// | 3 | 1 | access count |
/// | 4 | 4 | size of the file |
/// | 8 | 16 | hash of the key |
/// | 24 | 8 | the writer, or 0 |
/// | 32 | 4 | expiration time, seconds since 1970 |
/// | 36 | 4 | clock relative to that of the eviction order, a 32-bit float |
/// | 40 | 8 | salt of the ledger |
/// | 48 | 8 | 0 |
/// | 56 | 8 | XXH3 of the bytes before |
struct LedgerRecord {
    static let size = 64

    enum Event: UInt8 {
        /// A writer reserves space for a file of this size.
        case reserve = 1
        case put
        /// The writer releases its reservation without a file.
        case abandon
        /// The file is being removed. It may exist until `finishRemovals` follows.
        case remove
        /// The file is being removed because of its low priority.
        case evict
        /// All files of earlier removals are removed.
        case finishRemovals
        /// The entry was accessed, as often as its access count says.
        case touch
    }

    var event: Event
    var writer: UInt64 = 0
    var entry: IndexEntry

    init(_ event: Event, writer: UInt64 = 0, entry: IndexEntry = IndexEntry()) {
        self.event = event
        self.writer = writer
        self.entry = entry
    }

    /// Decodes a record, or returns `nil` for bytes that `append` did not write with this salt.
    init?(_ bytes: UnsafeRawBufferPointer, salt: UInt64) {
        guard bytes.number(UInt64.self, at: 40) == salt,
            Checksum.value(of: UnsafeRawBufferPointer(rebasing: bytes[..<56])) == bytes.number(UInt64.self, at: 56),
            let event = Event(rawValue: bytes[0]), let kind = EntryKind(rawValue: bytes[1]),
            let importance = EntryImportance(rawValue: bytes[2])
        else { return nil }
        self.event = event
        writer = bytes.number(UInt64.self, at: 24)
        entry = IndexEntry()
        entry.key = CacheKey(high: bytes.number(UInt64.self, at: 8), low: bytes.number(UInt64.self, at: 16))
        entry.size = bytes.number(UInt32.self, at: 4)
        entry.expirationSeconds = bytes.number(UInt32.self, at: 32)
        entry.clockOffset = Float(bitPattern: bytes.number(UInt32.self, at: 36))
        entry.accessCount = bytes[3]
        entry.kind = kind
        entry.importance = importance
    }

    /// Appends the record to `bytes`, which contains complete records.
    func append(to bytes: inout [UInt8], salt: UInt64) {
        let start = bytes.count
        bytes.append(contentsOf: [event.rawValue, entry.kind.rawValue, entry.importance.rawValue, entry.accessCount])
        bytes.append(entry.size)
        bytes.append(entry.key.high)
        bytes.append(entry.key.low)
        bytes.append(writer)
        bytes.append(entry.expirationSeconds)
        bytes.append(entry.clockOffset.bitPattern)
        bytes.append(salt)
        bytes.append(UInt64(0))
        bytes.append(bytes.withUnsafeBytes { Checksum.value(of: UnsafeRawBufferPointer(rebasing: $0[start...])) })
    }
}
