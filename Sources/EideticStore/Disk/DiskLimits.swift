package import EideticCore

/// What a ledger holds to.
struct DiskLimits: Sendable {
    /// Inodes that stay free for others.
    static let minimumFreeInodes = 64
    /// No limit is above this, so that sums of limits and sizes do not overflow.
    private static let maximum = 1 << 62

    /// The most bytes that all entries may take on the device.
    let totalSize: Int
    /// The part of it that derived entries may take when originals want it too.
    let derivedSize: Int
    /// The bytes of the file system that stay free.
    let minimumFreeSpace: Int
    /// The unit in which the file system gives room.
    let blockSize: Int
    /// For entries that have no expiry of their own.
    let maximumAge: Duration
    /// From when that counts.
    let ageBasis: DiskCache.Configuration.AgeBasis

    /// How much an eviction makes free beyond what is needed, so that not every write evicts.
    var evictionSlack: Int { min(totalSize / 64, 4 << 20) }

    /// Takes the limits from a configuration, and what it leaves open from the file system.
    init(configuration: DiskCache.Configuration, files: FileSystem) throws(SystemError) {
        let free = try files.freeSpace(at: configuration.directory)
        let limit = configuration.sizeLimit ?? .defaultDiskCacheLimit(freeSpace: ByteCount(free.availableBytes))
        totalSize = min(limit.bytes, Self.maximum)
        derivedSize = Int(Double(totalSize) * configuration.derivedShare)
        minimumFreeSpace = min(
            configuration.minimumFreeSpace?.bytes ?? min(free.totalBytes / 100, 256 << 20),
            Self.maximum
        )
        blockSize = free.blockSize
        maximumAge = configuration.maximumAge
        ageBasis = configuration.ageBasis
    }

    /// When an entry stops being served whose file was changed at `modified`.
    func expirationTime(of metadata: DiskCache.Metadata, modified: Timestamp) -> Timestamp {
        metadata.expirationTime ?? (ageBasis == .access ? max(metadata.storageTime, modified) : metadata.storageTime)
            + maximumAge
    }

    /// Whether an entry is not served any more.
    ///
    /// Nor is one that seems to be written later than its whole age from now, as after a clock that was wrong.
    func isExpired(_ metadata: DiskCache.Metadata, modified: Timestamp, at now: Timestamp) -> Bool {
        expirationTime(of: metadata, modified: modified) <= now
            || metadata.expirationTime == nil && metadata.storageTime > now + maximumAge
    }

    /// What the ledger notes of an entry.
    ///
    /// `modified` is the file's time; without one it is being written.
    func indexEntry(
        for key: CacheKey,
        fileSize: Int,
        metadata: DiskCache.Metadata,
        modified: Timestamp? = nil
    ) -> IndexEntry {
        let expiry = expirationTime(of: metadata, modified: modified ?? metadata.storageTime)
        let seconds = expiry.nanoseconds / 1_000_000_000 + (expiry.nanoseconds % 1_000_000_000 > 0 ? 1 : 0)
        var entry = IndexEntry()
        (entry.key, entry.size) = (key, UInt32(fileSize))
        entry.expirationSeconds = seconds >= Int64(UInt32.max) ? .max : UInt32(max(0, seconds))
        (entry.kind, entry.importance) = (metadata.kind, metadata.importance)
        return entry
    }
}

extension ByteCount {
    /// The limit of a disk cache when nobody says otherwise: 2 % of what is free, between 64 and 512 MiB.
    package static func defaultDiskCacheLimit(freeSpace: ByteCount) -> ByteCount {
        min(max(ByteCount(freeSpace.bytes / 50), .mebibytes(64)), .mebibytes(512))
    }
}
