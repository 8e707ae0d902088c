package import EideticCore

/// The limits of a cache's directory.
struct DiskLimits: Sendable {
    /// The number of inodes that stay free on the file system.
    static let minimumFreeInodes = 64
    /// The largest limit, so that sums of limits and sizes do not overflow.
    private static let maximum = 1 << 62

    /// The largest size of all entries on the device, in bytes.
    private(set) var totalSize: Int
    /// The part of the total size that derived entries may use while originals need the space.
    private let derivedShare: Double
    /// The free space to leave on the file system, in bytes.
    let minimumFreeSpace: Int
    /// The block size of the file system.
    let blockSize: Int
    let ages: EntryAges
    /// The time after which a change fails that waits for another process.
    let lockTimeLimit: Duration

    /// That part in bytes.
    var derivedSize: Int { Int(Double(totalSize) * derivedShare) }

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
        derivedShare = configuration.derivedShare
        self.minimumFreeSpace = min(minimumFreeSpace, Self.maximum)
        self.blockSize = blockSize
        ages = EntryAges(configuration)
        lockTimeLimit = configuration.lockTimeLimit
    }

    /// Changes the largest size, which is at least a byte.
    mutating func setTotalSize(_ size: ByteCount) { totalSize = min(max(1, size.bytes), Self.maximum) }

    /// Throws `invalidArgument` for a setting of a cache out of its range.
    static func validate(_ configuration: DiskCache.Configuration) throws(EideticError) {
        let directory = configuration.directory
        let refusal: String? =
            if directory.isEmpty || directory.utf8.contains(0) {
                "the directory \"\(directory)\" is not a path"
            } else if let sizeLimit = configuration.sizeLimit, sizeLimit <= .zero {
                "the size limit \(sizeLimit.bytes) is not above 0"
            } else if !(0...1).contains(configuration.derivedShare) {
                "the derived share \(configuration.derivedShare) is not between 0 and 1"
            } else if let minimumFreeSpace = configuration.minimumFreeSpace, minimumFreeSpace < .zero {
                "the minimum free space \(minimumFreeSpace.bytes) is below 0"
            } else if configuration.maximumAge <= .zero {
                "the maximum age \(configuration.maximumAge) is not above 0"
            } else {
                nil
            }
        if let refusal { throw EideticError(.invalidArgument, message: "disk cache: \(refusal)") }
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
        let expirationTime = ages.expirationTime(of: metadata, modified: modified ?? metadata.storageTime)
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
