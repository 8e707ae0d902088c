import EideticCore
import Glibc

/// A write-ahead log shared by all processes that use a directory: the entries, running writes and running removals.
///
/// The files are authoritative; the ledger has their totals without a scan. A process changes the directory only
/// under its lock, and records each change so that another process can complete or undo it after a kill:
///
/// - *put* precedes the file within one transaction. A reader that finds it as the latest record checks the file.
/// - For large files, *reserve* precedes the first byte, and *put* follows the rename in a second transaction. The
///   reservation of a dead writer is resolved by a check of its file.
/// - *remove* and *evict* precede the unlink, *finishRemovals* follows it. Without it the unlink is repeated.
/// - A missing, damaged or foreign ledger is rebuilt from the files.
///
/// Each process has a copy in memory (``DiskIndex``), and reads new records of other processes when it takes the lock.
/// The class is not `Sendable`: the cache guards it with a lock of its own.
final class Ledger {
    /// Space reserved for a file that is being written.
    struct Reservation {
        let key: CacheKey
        let allocatedSize: Int
    }

    let layout: DiskLayout
    let files: FileSystem
    let reader: EntryReader
    var limits: DiskLimits
    /// A Boolean value indicating whether the ledger is read without the lock, and never written.
    let isReadOnly: Bool
    let lock: DirectoryLock

    var index: DiskIndex
    var reservations: [UInt64: Reservation] = [:]
    /// The sum of all reservations in bytes.
    var reservedSize = 0
    /// Removed keys whose files may still exist.
    var pendingRemovals: [CacheKey] = []
    /// The latest put of another process, whose file may be missing.
    var unverifiedPut: LedgerRecord?
    /// The keys evicted since the last call of `didEvict`; `nil` if that hook is not set.
    var evictedKeys: [String]?
    /// A Boolean value indicating whether changes are missing from the ledger's file.
    var needsRewrite = false
    /// A Boolean value indicating whether the machine has restarted since the ledger was written, so that files may be
    /// lost.
    var needsReconciliation = false
    var isReconciliationScheduled = false

    var file: OpenFile?
    var header = LedgerHeader(salt: 0, bootIdentifier: 0)
    var offset = 0
    /// The offset up to which space for the ledger is allocated.
    var preallocatedEnd = 0
    private var latestWriterNumber: UInt64 = 0
    /// The bytes to write until the next check of the free space.
    var bytesUntilSpaceCheck = 0

    init(layout: DiskLayout, files: FileSystem, limits: DiskLimits, isReadOnly: Bool = false) {
        self.isReadOnly = isReadOnly
        self.layout = layout
        self.files = files
        self.limits = limits
        reader = EntryReader(files: files)
        lock = DirectoryLock(layout: layout, files: files, timeLimit: limits.lockTimeLimit)
        index = DiskIndex(blockSize: limits.blockSize)
    }

    /// Runs `body` under the directory's lock, with an index that is up to date.
    func transaction<Value>(_ body: () throws(SystemError) -> Value) throws(SystemError) -> Value {
        try lock.acquire()
        defer { lock.release() }
        try synchronize()
        return try body()
    }

    /// Writes and renames a file within one transaction.
    ///
    /// The *put* record precedes the file. The next process that reads it as the latest record checks the file.
    func put(
        _ entry: IndexEntry,
        accesses: [CacheKey],
        write: (_ temporaryPath: String) throws(SystemError) -> Void
    ) throws(SystemError) {
        let records = recordAccesses(accesses)
        let writer = try claimWriter(allocating: index.allocatedSize(forFileSize: Int(entry.size)))
        let old = index.entry(for: entry.key)
        try append(records + [LedgerRecord(.put, writer: writer, entry: entry)])
        let temporaryPath = layout.temporaryPath(of: entry.key, writer: writer)
        do throws(SystemError) {
            try write(temporaryPath)
            try files.rename(temporaryPath, to: layout.path(of: entry.key))
        } catch {
            try? files.unlink(temporaryPath)
            appendOrRewrite(
                old.map { [LedgerRecord(.put, entry: $0)] } ?? [
                    LedgerRecord(.remove, entry: entry), LedgerRecord(.finishRemovals),
                ]
            )
            throw error
        }
        index.put(entry)
    }

    /// Evicts until a file fits, and returns a new writer number.
    func claimWriter(allocating allocatedSize: Int) throws(SystemError) -> UInt64 {
        try makeRoom(for: allocatedSize)
        try ensureFreeSpace(for: allocatedSize)
        try lock.claimInstance()
        latestWriterNumber = (latestWriterNumber + 1) & 0xffff_ffff
        return lock.instance << 32 | latestWriterNumber
    }

    /// Reserves space for a large file, and returns the number of its writer.
    func beginWrite(of key: CacheKey, size: Int, accesses: [CacheKey]) throws(SystemError) -> UInt64 {
        let allocatedSize = index.allocatedSize(forFileSize: size)
        let records = recordAccesses(accesses)
        let writer = try claimWriter(allocating: allocatedSize)
        var entry = IndexEntry()
        entry.key = key
        entry.size = UInt32(size)
        try append(records + [LedgerRecord(.reserve, writer: writer, entry: entry)])
        add(Reservation(key: key, allocatedSize: allocatedSize), for: writer)
        return writer
    }

    /// Renames a large file that was written, and releases its reservation.
    func commitWrite(_ writer: UInt64, of entry: IndexEntry, from temporaryPath: String) throws(SystemError) {
        try files.rename(temporaryPath, to: layout.path(of: entry.key))
        index.put(entry)
        releaseReservation(of: writer)
        appendOrRewrite([LedgerRecord(.put, writer: writer, entry: entry)])
    }

    /// Releases the reservation of a file that was not written.
    func abandonWrite(_ writer: UInt64) {
        releaseReservation(of: writer)
        appendOrRewrite([LedgerRecord(.abandon, writer: writer)])
    }

    /// Releases a reservation without a record; the next transaction rewrites the ledger.
    func abandonWriteLater(_ writer: UInt64) {
        releaseReservation(of: writer)
        needsRewrite = true
    }

    /// Applies accesses to the eviction order, and returns their records.
    func recordAccesses(_ accesses: [CacheKey]) -> [LedgerRecord] {
        if accesses.isEmpty { return [] }
        let counts = Dictionary(accesses.lazy.map { ($0, 1) }) { $0 + $1 }
        return counts.compactMap { key, count in
            guard var entry = index.entry(for: key) else { return nil }
            index.touch(key, count: count)
            entry.accessCount = UInt8(min(count, 255))
            return LedgerRecord(.touch, entry: entry)
        }
    }

    func add(_ reservation: Reservation, for writer: UInt64) {
        releaseReservation(of: writer)
        reservations[writer] = reservation
        reservedSize += reservation.allocatedSize
    }

    func releaseReservation(of writer: UInt64) {
        if let old = reservations.removeValue(forKey: writer) { reservedSize -= old.allocatedSize }
    }

    /// The outcome of a replacement of metadata.
    enum MetadataReplacement { case done, entryChanged, fileFull }

    /// The largest size of superseded footers in a file, in bytes.
    private static let maximumSupersededSize = 1 << 14

    /// An entry's file, opened to append a footer.
    private struct OpenEntryFile {
        let file: OpenFile
        let size: Int
    }

    /// Appends a footer with new metadata to the entry's file.
    func replaceMetadata(
        of entry: DiskCache.Entry,
        with metadata: DiskCache.Metadata,
        isDurable: Bool
    ) throws(SystemError) -> MetadataReplacement {
        let key = CacheKey(entry.key)
        guard let file = try openEntryFile(at: layout.path(of: key)) else { return .entryChanged }
        let status = try files.status(of: file.descriptor)
        guard status.kind == .regular,
            case .success(let old) = try reader.footer(of: file.descriptor, size: status.size),
            old.key.utf8.elementsEqual(entry.key.utf8), old.metadata == entry.metadata
        else { return .entryChanged }
        let supersededSize = status.size - old.bodySize
        guard supersededSize < Self.maximumSupersededSize else { return .fileFull }
        let footer = EntryFile.Footer(
            key: old.key,
            metadata: metadata,
            bodySize: old.bodySize,
            bodyChecksum: old.bodyChecksum
        )
        let bytes = footer.encoded(supersededSize: supersededSize)
        guard status.size + bytes.count <= EntryFile.sizeLimit else { return .fileFull }
        var new = limits.indexEntry(for: key, fileSize: status.size + bytes.count, metadata: metadata)
        // The bytes are unchanged, so their access count stays.
        if let known = index.entry(for: key) { new.accessCount = known.accessCount }
        let target = OpenEntryFile(file: file, size: status.size)
        return try append(bytes, to: target, entry: new, isDurable: isDurable) ? .done : .entryChanged
    }

    private func openEntryFile(at path: String) throws(SystemError) -> OpenFile? {
        do throws(SystemError) {
            return OpenFile(try files.open(path, flags: O_RDWR | O_NOFOLLOW | O_NONBLOCK))
        } catch {
            guard EntryReader.absenceErrors.contains(error.errorNumber) else { throw error }
            return nil
        }
    }

    /// Appends a footer to an entry's file; returns `false` if making room for it evicted the entry itself.
    private func append(
        _ footer: [UInt8],
        to target: OpenEntryFile,
        entry: IndexEntry,
        isDurable: Bool
    ) throws(SystemError) -> Bool {
        let growth = index.allocatedSize(forFileSize: Int(entry.size)) - index.allocatedSize(forFileSize: target.size)
        let writer = try claimWriter(allocating: growth)
        guard try files.status(of: target.file.descriptor).linkCount > 0 else { return false }
        let old = index.entry(for: entry.key)
        try append([LedgerRecord(.put, writer: writer, entry: entry)])
        do throws(SystemError) {
            try files.write(footer, to: target.file.descriptor, at: target.size)
            if isDurable { try files.synchronizeData(target.file.descriptor) }
        } catch {
            // If the truncation fails too, the next reader finds the previous footer.
            try? files.truncate(target.file.descriptor, to: target.size)
            if let old { appendOrRewrite([LedgerRecord(.put, entry: old)]) } else { needsRewrite = true }
            throw error
        }
        index.put(entry)
        return true
    }
}
