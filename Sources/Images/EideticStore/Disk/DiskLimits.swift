package import EideticCore

/// The limits of a cache's directory.
struct DiskLimits: Sendable {
    /// The number of inodes that stay free on the file system.
    static let minimumFreeInodes = 64
    /// The largest limit, so that sums of limits and sizes do not overflow.
    private static let maximum = 1 << 62

    /// The largest size of all entries on the device, in bytes.
    let totalSize: Int
    /// The part of the total size that derived entries may use while originals need the space, in bytes.
    let derivedSize: Int
    /// The free space to leave on the file system, in bytes.
    let minimumFreeSpace: Int
    /// The block size of the file system.
    let blockSize: Int
    /// The age at which entries without an expiration time of their own expire.
    let maximumAge: Duration
    /// The event from which the age counts.
    let ageBasis: DiskCache.Configuration.AgeBasis
    /// The time after which a change fails that waits for another process.
    let lockTimeLimit: Duration

    /// The bytes that an eviction frees in addition to those needed, so that not every write evicts.
    var evictionSlack: Int { min(totalSize / 64, 4 << 20) }

    /// Creates the limits of a configuration, with defaults that depend on the file system.
    init(configuration: DiskCache.Configuration, files: FileSystem) throws(SystemError) {
        let free = try files.freeSpace(at: configuration.directory)
        let limit = configuration.sizeLimit ?? .defaultDiskCacheLimit(freeSpace: ByteCount(free.availableBytes))
        let minimumFree = configuration.minimumFreeSpace?.bytes ?? min(free.totalBytes / 100, 256 << 20)
        self.init(
            configuration,
            totalSize: limit.bytes,
            minimumFreeSpace: minimumFree,
            blockSize: free.blockSize
        )
    }

    /// Creates limits that do not depend on the file system.
    init(_ configuration: DiskCache.Configuration, totalSize: Int, minimumFreeSpace: Int = 0, blockSize: Int = 4_096) {
        self.totalSize = min(totalSize, Self.maximum)
        derivedSize = Int(Double(self.totalSize) * configuration.derivedShare)
        self.minimumFreeSpace = min(minimumFreeSpace, Self.maximum)
        self.blockSize = blockSize
        maximumAge = configuration.maximumAge
        ageBasis = configuration.ageBasis
        lockTimeLimit = configuration.lockTimeLimit
    }

    /// Returns the expiration time of an entry whose file was last modified at `modified`.
    func expirationTime(of metadata: DiskCache.Metadata, modified: Timestamp) -> Timestamp {
        if let expirationTime = metadata.expirationTime { return expirationTime }
        let start = ageBasis == .access ? max(metadata.storageTime, modified) : metadata.storageTime
        return start + maximumAge
    }

    /// Returns `true` if an entry has expired.
    ///
    /// An entry stored further in the future than its maximum age has expired too: the clock was wrong when it was
    /// written.
    func isExpired(_ metadata: DiskCache.Metadata, modified: Timestamp, at now: Timestamp) -> Bool {
        expirationTime(of: metadata, modified: modified) <= now
            || metadata.expirationTime == nil && metadata.storageTime > now + maximumAge
    }

    /// Creates the index entry of a file.
    ///
    /// `modified` is the file's modification time, or `nil` while the file is being written.
    func indexEntry(
        for key: CacheKey,
        fileSize: Int,
        metadata: DiskCache.Metadata,
        modified: Timestamp? = nil
    ) -> IndexEntry {
        let expirationTime = expirationTime(of: metadata, modified: modified ?? metadata.storageTime)
        let (seconds, remainder) = expirationTime.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let roundedUp = seconds + (remainder > 0 ? 1 : 0)
        var entry = IndexEntry()
        entry.key = key
        entry.size = UInt32(fileSize)
        entry.expirationSeconds = UInt32(clamping: roundedUp)
        entry.kind = metadata.kind
        entry.importance = metadata.importance
        return entry
    }
}

extension ByteCount {
    /// Returns the default size limit of a disk cache: 2 % of the free space, between 64 and 512 MiB.
    package static func defaultDiskCacheLimit(freeSpace: ByteCount) -> ByteCount {
        min(max(ByteCount(freeSpace.bytes / 50), .mebibytes(64)), .mebibytes(512))
    }
}
