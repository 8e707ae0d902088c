import EideticCore
import Glibc

// The ledger's file: reading records of other processes, appending, rewriting.
extension Ledger {
    private static let chunkSize = 1 << 18

    /// Brings the index up to date, and finishes what killed processes left unfinished.
    func synchronize() throws(SystemError) {
        if try !readAppendedRecords() { try rebuild() }
        try finishRemovals()
        try verifyLatestPut()
        try reconcileDeadWriters()
        if needsRewrite { try rewrite() }
    }

    /// Reads the records that other processes appended; returns `false` if there is no valid ledger.
    ///
    /// A ledger that was rewritten or removed has a link count of zero.
    func readAppendedRecords() throws(SystemError) -> Bool {
        guard let file, let status = try statusIfLinked(file) else {
            if !isReadOnly { try lock.reacquireIfRemoved() }
            return try load()
        }
        // A ledger is never truncated while it is in use.
        return status.size < offset ? false : try replay(to: status.size)
    }

    /// Reads a ledger from its beginning; returns `false` if it is missing or damaged.
    private func load() throws(SystemError) -> Bool {
        guard let new = try openLedger() else { return false }
        let status = try files.status(of: new.descriptor)
        let start = try files.bytes(of: new.descriptor, count: LedgerRecord.size)
        guard let header = start.withUnsafeBytes({ LedgerHeader($0) }) else { return false }
        reset()
        adopt(new, header: header, end: LedgerRecord.size)
        needsReconciliation = header.bootIdentifier != bootIdentifier()
        return try replay(to: status.size)
    }

    /// Returns the status of a file, or `nil` if it was removed from the directory.
    private func statusIfLinked(_ file: OpenFile) throws(SystemError) -> FileStatus? {
        let status = try files.status(of: file.descriptor)
        return status.linkCount > 0 ? status : nil
    }

    private func openLedger() throws(SystemError) -> OpenFile? {
        do throws(SystemError) {
            return OpenFile(try files.open(layout.ledgerPath, flags: (isReadOnly ? O_RDONLY : O_RDWR) | O_NOFOLLOW))
        } catch {
            guard EntryReader.absenceErrors.contains(error.errorNumber) else { throw error }
            return nil
        }
    }

    /// Discards all that was read from a ledger.
    func reset() {
        index = DiskIndex(blockSize: limits.blockSize)
        reservations = [:]
        reservedSize = 0
        pendingRemovals = []
        unverifiedPut = nil
        needsRewrite = false
    }

    private func adopt(_ file: OpenFile, header: LedgerHeader, end: Int) {
        self.file = file
        self.header = header
        offset = end
        preallocatedEnd = end
    }

    /// Applies the records up to `size`; returns `false` if one is damaged.
    ///
    /// An incomplete record at the end is what a full disk left of a write; the next record overwrites it.
    private func replay(to size: Int) throws(SystemError) -> Bool {
        guard let file else { return false }
        let end = size / LedgerRecord.size * LedgerRecord.size
        while offset < end {
            let bytes = try files.bytes(of: file.descriptor, at: offset, count: min(Self.chunkSize, end - offset))
            guard !bytes.isEmpty, bytes.count % LedgerRecord.size == 0, apply(bytes) else { return false }
            offset += bytes.count
        }
        return true
    }

    private func apply(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: LedgerRecord.size) {
                let record = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + LedgerRecord.size)])
                guard let record = LedgerRecord(record, salt: header.salt) else { return false }
                apply(record)
            }
            return true
        }
    }

    private func apply(_ record: LedgerRecord) {
        let key = record.entry.key
        unverifiedPut = record.event == .put && record.writer != 0 ? record : nil
        switch record.event {
        case .reserve:
            let size = index.allocatedSize(forFileSize: Int(record.entry.size))
            add(Reservation(key: key, allocatedSize: size), for: record.writer)
        case .put:
            releaseReservation(of: record.writer)
            index.put(record.entry)
        case .abandon: releaseReservation(of: record.writer)
        case .remove:
            index.remove(key)
            pendingRemovals.append(key)
        case .evict:
            index.evict(key)
            pendingRemovals.append(key)
        case .finishRemovals: pendingRemovals = []
        case .touch: index.touch(key, count: Int(record.entry.accessCount))
        }
    }

    /// Appends records, either all or none of them.
    func append(_ records: [LedgerRecord]) throws(SystemError) {
        guard let file else { throw SystemError(.pwrite, errorNumber: EBADF, path: layout.ledgerPath) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(records.count * LedgerRecord.size)
        for record in records { record.append(to: &bytes, salt: header.salt) }
        preallocate(byteCount: bytes.count, in: file)
        do throws(SystemError) {
            try files.write(bytes, to: file.descriptor, at: offset)
        } catch {
            try? files.truncate(file.descriptor, to: offset)
            throw error
        }
        offset += bytes.count
        // Most records are obsolete: a rewrite keeps only the current ones.
        if offset / LedgerRecord.size > 3 * index.count + 4_096 { needsRewrite = true }
    }

    /// Appends records of changes already made; if that fails, the next transaction rewrites the ledger.
    func appendOrRewrite(_ records: [LedgerRecord]) {
        do throws(SystemError) {
            try append(records)
        } catch {
            needsRewrite = true
            Log.write(.warning, category: .store, message: "the ledger is incomplete: \(error)")
        }
    }

    /// Allocates space for the ledger ahead of time, so that a full disk does not prevent the recording of removals.
    private func preallocate(byteCount count: Int, in file: OpenFile) {
        guard offset + count > preallocatedEnd else { return }
        let size = count + (64 << 10)
        if (try? files.allocate(file.descriptor, from: offset, count: size)) != nil { preallocatedEnd = offset + size }
    }

    /// Rewrites the ledger with one record for each current entry and reservation.
    func rewrite() throws(SystemError) {
        let boot = needsReconciliation ? header.bootIdentifier : bootIdentifier()
        let header = LedgerHeader(salt: UInt64.random(in: 1...UInt64.max), bootIdentifier: boot)
        var bytes = header.bytes
        bytes.reserveCapacity((index.count + reservations.count + 1) * LedgerRecord.size)
        index.forEach { LedgerRecord(.put, entry: $0).append(to: &bytes, salt: header.salt) }
        for (writer, reservation) in reservations {
            var entry = IndexEntry()
            entry.key = reservation.key
            entry.size = UInt32(clamping: reservation.allocatedSize)
            LedgerRecord(.reserve, writer: writer, entry: entry).append(to: &bytes, salt: header.salt)
        }
        let temporaryPath = "\(layout.ledgerPath).new"
        let new = OpenFile(try files.open(temporaryPath, flags: O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW))
        try files.write(bytes, to: new.descriptor, at: 0)
        try files.rename(temporaryPath, to: layout.ledgerPath)
        adopt(new, header: header, end: bytes.count)
        needsRewrite = false
    }

    /// Returns a number that changes when the machine restarts.
    private func bootIdentifier() -> UInt64 {
        let path = "/proc/sys/kernel/random/boot_id"
        guard let file = try? files.open(path, flags: O_RDONLY), let id = try? files.bytes(of: file, count: 64) else {
            return 0
        }
        return id.withUnsafeBytes { Checksum.value(of: $0) }
    }
}
