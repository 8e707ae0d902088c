import EideticCore
import Glibc

/// The common book of all processes that use a directory: what is there, what is being written, what is going.
///
/// The files are the truth; the ledger tells what they add up to without looking at them. Every change of the
/// directory is made under the directory's lock and written down so that a kill at any instant can be made good by
/// whoever comes next:
///
/// - *put* comes before the file is written, in one turn; whoever reads it as the latest record looks at the file.
/// - For what takes long, *begin* takes room before the first byte is written, and *put* follows the rename in another
///   turn. A begin whose writer is dead is settled by a look at the one file.
/// - *remove* and *evict* come before the unlink, *done* after it. Without *done* the unlinks are made again.
/// - A missing, damaged or foreign ledger is made again from the files.
///
/// Each process keeps a copy in memory (``DiskIndex``) and reads what others appended when it next takes the lock.
/// Not `Sendable`: the cache keeps it behind a lock of its own.
final class Ledger {
    /// Room that is taken by a file that is being written.
    struct Reservation {
        let key: CacheKey
        let allocated: Int
    }

    let layout: DiskLayout
    let files: FileSystem
    let reader: EntryReader
    let limits: DiskLimits
    let lock: DirectoryLock

    var index: DiskIndex
    var reservations: [UInt64: Reservation] = [:]
    /// The bytes that `outstanding` adds up to.
    var reservedSize = 0
    /// Removed, but perhaps still there.
    var pendingRemovals: [CacheKey] = []
    /// What others put there last, and may not have done.
    var unverifiedPut: LedgerRecord?
    /// The keys that were evicted and nobody was told of yet; `nil` where nobody wants to know.
    var evictedKeys: [String]?
    /// Whether what stands in the file is not all that happened.
    var needsRewrite = false
    /// Whether the machine was started anew since the ledger was begun, so that files may have been lost.
    var needsReconciliation = false
    /// Whether somebody looks into that already.
    var isReconciliationScheduled = false

    var file: DirectoryLock.OpenFile?
    var header = LedgerHeader(salt: 0, bootIdentifier: 0)
    var offset = 0
    /// Room on the device up to here is ours already.
    var preallocatedEnd = 0
    private var latestWriterNumber: UInt64 = 0
    /// Bytes to write until the free space is looked at again.
    var bytesUntilSpaceCheck = 0

    init(layout: DiskLayout, files: FileSystem, limits: DiskLimits) {
        self.layout = layout
        self.files = files
        self.limits = limits
        reader = EntryReader(files: files)
        lock = DirectoryLock(layout: layout, files: files)
        index = DiskIndex(blockSize: limits.blockSize)
    }

    /// Runs `body` while nobody else changes the directory, with an index that is up to date.
    func transaction<Value>(_ body: () throws(SystemError) -> Value) throws(SystemError) -> Value {
        try lock.acquire()
        defer { lock.release() }
        try synchronize()
        return try body()
    }

    /// Writes a file and gives it its name, all in one turn.
    ///
    /// *put* is written down before; whoever next reads it as the latest record looks whether it came true.
    func put(
        _ entry: IndexEntry,
        accesses: [CacheKey],
        write: (_ temporary: String) throws(SystemError) -> Void
    ) throws(SystemError) {
        let accesses = recordAccesses(accesses)
        let writer = try claimWriter(allocating: index.allocatedSize(forFileSize: Int(entry.size)))
        let old = index.entry(for: entry.key)
        try append(accesses + [LedgerRecord(.put, writer: writer, entry: entry)])
        let temporary = layout.temporaryPath(of: entry.key, writer: writer)
        do throws(SystemError) {
            try write(temporary)
            try files.rename(temporary, to: layout.path(of: entry.key))
        } catch {
            try? files.unlink(temporary)
            appendOrRewrite(
                old.map { [LedgerRecord(.put, entry: $0)] } ?? [
                    LedgerRecord(.remove, entry: entry), LedgerRecord(.finishRemovals),
                ]
            )
            throw error
        }
        index.put(entry)
    }

    /// Makes room for a file, and gives a number under which it can be written.
    func claimWriter(allocating allocated: Int) throws(SystemError) -> UInt64 {
        try makeRoom(for: allocated)
        try ensureFreeSpace(for: allocated)
        try lock.claimInstance()
        latestWriterNumber = (latestWriterNumber + 1) & 0xffff_ffff
        return lock.instance << 32 | latestWriterNumber
    }

    /// Takes room for a file, and gives the number under which it is written.
    func beginWrite(of key: CacheKey, size: Int, accesses: [CacheKey]) throws(SystemError) -> UInt64 {
        let allocated = index.allocatedSize(forFileSize: size)
        let accesses = recordAccesses(accesses)
        let writer = try claimWriter(allocating: allocated)
        var entry = IndexEntry()
        (entry.key, entry.size) = (key, UInt32(size))
        try append(accesses + [LedgerRecord(.reserve, writer: writer, entry: entry)])
        reserve(writer: writer, reservation: Reservation(key: key, allocated: allocated))
        return writer
    }

    /// Gives a file that was written its name.
    func commitWrite(_ writer: UInt64, of entry: IndexEntry, from temporary: String) throws(SystemError) {
        try files.rename(temporary, to: layout.path(of: entry.key))
        index.put(entry)
        releaseReservation(of: writer)
        appendOrRewrite([LedgerRecord(.put, writer: writer, entry: entry)])
    }

    /// Gives the room of a file back that was not written.
    func abandonWrite(_ writer: UInt64) {
        releaseReservation(of: writer)
        appendOrRewrite([LedgerRecord(.abandon, writer: writer)])
    }

    /// As `abandon`, without touching the file: the next change writes it down.
    func abandonWriteLater(_ writer: UInt64) {
        releaseReservation(of: writer)
        needsRewrite = true
    }

    /// Moves entries that were read up in the order of eviction; gives what tells the others.
    func recordAccesses(_ uses: [CacheKey]) -> [LedgerRecord] {
        if uses.isEmpty { return [] }
        let counts = Dictionary(uses.lazy.map { ($0, 1) }) { $0 + $1 }
        return counts.compactMap { key, count in
            guard var entry = index.entry(for: key) else { return nil }
            index.touch(key, count: count)
            entry.accessCount = UInt8(min(count, 255))
            return LedgerRecord(.touch, entry: entry)
        }
    }

    func reserve(writer: UInt64, reservation: Reservation) {
        releaseReservation(of: writer)
        reservations[writer] = reservation
        reservedSize += reservation.allocated
    }

    func releaseReservation(of writer: UInt64) {
        if let old = reservations.removeValue(forKey: writer) { reservedSize -= old.allocated }
    }
}
