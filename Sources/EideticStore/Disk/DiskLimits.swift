package import EideticCore

/// What a ledger holds to.
struct DiskLimits: Sendable {
    /// Inodes that stay free for others.
    static let minimumInodes = 64
    /// No limit is above this, so that sums of limits and sizes do not overflow.
    private static let most = 1 << 62

    /// The most bytes that all entries may take on the device.
    let total: Int
    /// The part of it that derived entries may take when originals want it too.
    let derived: Int
    /// The bytes of the file system that stay free.
    let minimumFree: Int
    /// The unit in which the file system gives room.
    let block: Int
    /// For entries that have no expiry of their own.
    let maximumAge: Duration
    /// From when that counts.
    let ageBegins: DiskCache.Configuration.Expiry

    /// How much an eviction makes free beyond what is needed, so that not every write evicts.
    var slack: Int { min(total / 64, 4 << 20) }

    /// Takes the limits from a configuration, and what it leaves open from the file system.
    init(_ configuration: DiskCache.Configuration, files: FileSystem) throws(SystemError) {
        let free = try files.freeSpace(at: configuration.directory)
        let limit = configuration.sizeLimit ?? .standardLimit(free: ByteCount(free.bytes))
        total = min(limit.bytes, Self.most)
        derived = Int(Double(total) * configuration.derivedShare)
        minimumFree = min(configuration.minimumFreeSpace?.bytes ?? min(free.total / 100, 256 << 20), Self.most)
        block = free.block
        maximumAge = configuration.maximumAge
        ageBegins = configuration.expiry
    }

    /// When an entry stops being served whose file was changed at `modified`.
    func expiry(of metadata: DiskCache.Metadata, modified: Timestamp) -> Timestamp {
        metadata.expires ?? (ageBegins == .access ? max(metadata.stored, modified) : metadata.stored) + maximumAge
    }

    /// Whether an entry is not served any more.
    ///
    /// Nor is one that seems to be written later than its whole age from now, as after a clock that was wrong.
    func isExpired(_ metadata: DiskCache.Metadata, modified: Timestamp, at now: Timestamp) -> Bool {
        expiry(of: metadata, modified: modified) <= now
            || metadata.expires == nil && metadata.stored > now + maximumAge
    }

    /// What the ledger notes of an entry.
    ///
    /// `modified` is the file's time; without one it is being written.
    func indexEntry(
        _ key: CacheKey,
        fileSize: Int,
        _ metadata: DiskCache.Metadata,
        modified: Timestamp? = nil
    ) -> IndexEntry {
        let expiry = expiry(of: metadata, modified: modified ?? metadata.stored)
        let seconds = expiry.nanoseconds / 1_000_000_000 + (expiry.nanoseconds % 1_000_000_000 > 0 ? 1 : 0)
        var entry = IndexEntry()
        (entry.key, entry.size) = (key, UInt32(fileSize))
        entry.expires = seconds >= Int64(UInt32.max) ? .max : UInt32(max(0, seconds))
        (entry.kind, entry.importance) = (metadata.kind, metadata.importance)
        return entry
    }
}

extension ByteCount {
    /// The limit of a disk cache when nobody says otherwise: 2 % of what is free, between 64 and 512 MiB.
    package static func standardLimit(free: ByteCount) -> ByteCount {
        min(max(ByteCount(free.bytes / 50), .mebibytes(64)), .mebibytes(512))
    }
}
