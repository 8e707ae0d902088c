import EideticCore
import Glibc

// The ledger's file: reading what others appended, appending, writing it anew.
extension Ledger {
    private static let chunkSize = 1 << 18

    /// Brings the index up to date; afterwards nothing is unfinished and no dead writer holds room.
    func synchronize() throws(SystemError) {
        if try !readAppendedRecords() { try rebuild() }
        try finishRemovals()
        try verifyLatestPut()
        try reconcileDeadWriters()
        if needsRewrite { try rewrite() }
    }

    /// Reads what is new; false where there is no ledger that can be read.
    ///
    /// A ledger that was written anew or removed is seen from its file having no name any more.
    private func readAppendedRecords() throws(SystemError) -> Bool {
        guard let file, let status = try statusIfLinked(file) else {
            try lock.reacquireIfRemoved()
            return try load()
        }
        // Nobody ever makes it shorter.
        return status.size < offset ? false : try replay(to: status.size)
    }

    /// Reads a ledger from its beginning.
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

    /// The state of a file; `nil` where it has no name any more.
    private func statusIfLinked(_ file: DirectoryLock.OpenFile) throws(SystemError) -> FileStatus? {
        let status = try files.status(of: file.descriptor)
        return status.linkCount > 0 ? status : nil
    }

    private func openLedger() throws(SystemError) -> DirectoryLock.OpenFile? {
        do throws(SystemError) {
            return DirectoryLock.OpenFile(try files.open(layout.ledgerPath, flags: O_RDWR | O_NOFOLLOW))
        } catch {
            guard EntryReader.absenceErrors.contains(error.errorNumber) else { throw error }
            return nil
        }
    }

    /// Forgets what was read from a ledger.
    func reset() {
        index = DiskIndex(blockSize: limits.blockSize)
        reservations = [:]
        reservedSize = 0
        pendingRemovals = []
        unverifiedPut = nil
        needsRewrite = false
    }

    private func adopt(_ file: DirectoryLock.OpenFile, header: LedgerHeader, end: Int) {
        self.file = file
        self.header = header
        offset = end
        preallocatedEnd = end
    }

    /// Applies the records up to `size`; false where one is damaged.
    ///
    /// Less than a whole record at the end is what a full disk left of one; the next one takes its place.
    private func replay(to size: Int) throws(SystemError) -> Bool {
        guard let file else { return false }
        let end = size / LedgerRecord.size * LedgerRecord.size
        while offset < end {
            let bytes = try files.bytes(of: file.descriptor, count: min(Self.chunkSize, end - offset), from: offset)
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
            reserve(
                writer: record.writer,
                reservation: Reservation(key: key, allocated: index.allocatedSize(forFileSize: Int(record.entry.size)))
            )
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

    /// Appends records; all or none of them count.
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
        // Mostly of things past: time to write down what is there now.
        if offset / LedgerRecord.size > 3 * index.count + 4_096 { needsRewrite = true }
    }

    /// Appends records of what has happened already; where that fails the ledger is written anew by the next change.
    func appendOrRewrite(_ records: [LedgerRecord]) {
        do throws(SystemError) {
            try append(records)
        } catch {
            needsRewrite = true
            Log.write(.warning, category: .store, message: "the ledger is incomplete: \(error)")
        }
    }

    /// Takes room on the device ahead, so that a full disk does not keep removals from being written down.
    private func preallocate(byteCount count: Int, in file: DirectoryLock.OpenFile) {
        guard offset + count > preallocatedEnd else { return }
        let room = count + (64 << 10)
        if (try? files.allocate(file.descriptor, from: offset, count: room)) != nil { preallocatedEnd = offset + room }
    }

    /// Writes the ledger anew, with what is there now and nothing of the past.
    func rewrite() throws(SystemError) {
        let boot = needsReconciliation ? header.bootIdentifier : bootIdentifier()
        let header = LedgerHeader(salt: UInt64.random(in: 1...UInt64.max), bootIdentifier: boot)
        var bytes = header.bytes
        bytes.reserveCapacity((index.count + reservations.count + 1) * LedgerRecord.size)
        index.forEach { LedgerRecord(.put, entry: $0).append(to: &bytes, salt: header.salt) }
        for (writer, reservation) in reservations {
            var entry = IndexEntry()
            (entry.key, entry.size) = (reservation.key, UInt32(clamping: reservation.allocated))
            LedgerRecord(.reserve, writer: writer, entry: entry).append(to: &bytes, salt: header.salt)
        }
        let temporary = "\(layout.ledgerPath).new"
        let new = DirectoryLock.OpenFile(try files.open(temporary, flags: O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW))
        try files.write(bytes, to: new.descriptor, at: 0)
        try files.rename(temporary, to: layout.ledgerPath)
        adopt(new, header: header, end: bytes.count)
        needsRewrite = false
    }

    /// A number that differs each time the machine was started.
    private func bootIdentifier() -> UInt64 {
        let path = "/proc/sys/kernel/random/boot_id"
        guard let file = try? files.open(path, flags: O_RDONLY), let id = try? files.bytes(of: file, count: 64) else {
            return 0
        }
        return id.withUnsafeBytes { Checksum.value(of: $0) }
    }
}

extension FileSystem {
    /// Writes all bytes of an array at an offset.
    func write(
        _ bytes: [UInt8],
        to file: borrowing FileDescriptor,
        at offset: Int
    ) throws(SystemError) {
        var failure: SystemError?
        bytes.withUnsafeBytes { bytes in
            do throws(SystemError) { try write(bytes, to: file, at: offset) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}
