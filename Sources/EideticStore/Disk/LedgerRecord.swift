import EideticCore

/// One line of the ledger: 64 bytes, so that none crosses a page and each is written wholly or not at all.
///
/// | offset | bytes | |
/// |---|---|---|
/// | 0 | 1 | what happened |
/// | 1 | 1 | kind of the entry |
/// | 2 | 1 | importance |
/// | 3 | 1 | uses |
/// | 4 | 4 | bytes of the file |
/// | 8 | 16 | hash of the key |
/// | 24 | 8 | the writer, or 0 |
/// | 32 | 4 | time of expiry, seconds since 1970 |
/// | 36 | 4 | age in the order of eviction, a 32-bit float |
/// | 40 | 8 | salt of the ledger |
/// | 48 | 8 | 0 |
/// | 56 | 8 | XXH3 of the bytes before |
struct LedgerRecord {
    static let size = 64

    enum Event: UInt8 {
        /// A writer will put a file of this size there: its room is taken.
        case reserve = 1
        /// The file is in place.
        case put
        /// The writer gave up.
        case abandon
        /// The file goes. Until `done` follows, it may still be there.
        case remove
        /// As `remove`, because it was worth least.
        case evict
        /// What was to be removed is gone.
        case finishRemovals
        /// The entry was used, as often as `uses` says.
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

    /// Reads a record; `nil` where it is not one that `append` wrote with this salt.
    init?(_ bytes: UnsafeRawBufferPointer, salt: UInt64) {
        guard bytes.number(UInt64.self, at: 40) == salt,
            Checksum.value(of: UnsafeRawBufferPointer(rebasing: bytes[..<56])) == bytes.number(UInt64.self, at: 56),
            let event = Event(rawValue: bytes[0]), let kind = DiskCache.Metadata.Kind(rawValue: bytes[1]),
            let importance = DiskCache.Metadata.Importance(rawValue: bytes[2])
        else { return nil }
        self.event = event
        writer = bytes.number(UInt64.self, at: 24)
        entry = IndexEntry()
        entry.key = CacheKey(high: bytes.number(UInt64.self, at: 8), low: bytes.number(UInt64.self, at: 16))
        entry.size = bytes.number(UInt32.self, at: 4)
        entry.expirationSeconds = bytes.number(UInt32.self, at: 32)
        entry.clockOffset = Float(bitPattern: bytes.number(UInt32.self, at: 36))
        entry.accessCount = bytes[3]
        (entry.kind, entry.importance) = (kind, importance)
    }

    /// Writes the record to the end of `bytes`, which holds whole records.
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

/// The first 64 bytes of a ledger: magic, salt, the boot in which it was written, checksum.
struct LedgerHeader {
    static let magic: UInt64 = 0x01_52_45_47_44_45_4c_45
    let salt: UInt64
    let bootIdentifier: UInt64

    init(salt: UInt64, bootIdentifier: UInt64) {
        self.salt = salt
        self.bootIdentifier = bootIdentifier
    }

    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= LedgerRecord.size, bytes.number(UInt64.self, at: 0) == Self.magic,
            Checksum.value(of: UnsafeRawBufferPointer(rebasing: bytes[..<56])) == bytes.number(UInt64.self, at: 56)
        else { return nil }
        salt = bytes.number(UInt64.self, at: 8)
        bootIdentifier = bytes.number(UInt64.self, at: 16)
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for number in [Self.magic, salt, bootIdentifier, 0, 0, 0, 0] { bytes.append(number) }
        bytes.append(bytes.withUnsafeBytes { Checksum.value(of: $0) })
        return bytes
    }
}
