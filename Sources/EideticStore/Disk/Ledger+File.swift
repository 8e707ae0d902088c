import EideticCore
import Glibc

// The ledger's file: reading what others appended, appending, writing it anew.
extension Ledger {
    private static let chunk = 1 << 18

    /// Brings the index up to date; afterwards nothing is unfinished and no dead writer holds room.
    func synchronize() throws(SystemError) {
        if try !readOn() { try rebuild() }
        try finishRemovals()
        try settleLatestPut()
        try settleDeadWriters()
        if needsRewrite { try rewrite() }
    }

    /// Reads what is new; false where there is no ledger that can be read.
    ///
    /// A ledger that was written anew or removed is seen from its file having no name any more.
    private func readOn() throws(SystemError) -> Bool {
        guard let file, let status = try named(file) else {
            try lock.renewIfRemoved()
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
        forget()
        adopt(new, header, end: LedgerRecord.size)
        isDoubtful = header.boot != bootNumber()
        return try replay(to: status.size)
    }

    /// The state of a file; `nil` where it has no name any more.
    private func named(_ file: DirectoryLock.OpenFile) throws(SystemError) -> FileStatus? {
        let status = try files.status(of: file.descriptor)
        return status.linkCount > 0 ? status : nil
    }

    private func openLedger() throws(SystemError) -> DirectoryLock.OpenFile? {
        do throws(SystemError) {
            return DirectoryLock.OpenFile(try files.open(layout.ledger, O_RDWR | O_NOFOLLOW))
        } catch {
            guard EntryReader.absence.contains(error.number) else { throw error }
            return nil
        }
    }

    /// Forgets what was read from a ledger.
    func forget() {
        index = DiskIndex(block: limits.block)
        outstanding = [:]
        reserved = 0
        unfinished = []
        unproven = nil
        needsRewrite = false
    }

    private func adopt(_ file: DirectoryLock.OpenFile, _ header: LedgerHeader, end: Int) {
        self.file = file
        self.header = header
        offset = end
        allocatedEnd = end
    }

    /// Applies the records up to `size`; false where one is damaged.
    ///
    /// Less than a whole record at the end is what a full disk left of one; the next one takes its place.
    private func replay(to size: Int) throws(SystemError) -> Bool {
        guard let file else { return false }
        let end = size / LedgerRecord.size * LedgerRecord.size
        while offset < end {
            let bytes = try files.bytes(of: file.descriptor, count: min(Self.chunk, end - offset), from: offset)
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
        unproven = record.event == .put && record.writer != 0 ? record : nil
        switch record.event {
        case .begin:
            reserve(
                record.writer,
                Reservation(key: key, allocated: index.allocation(Int(record.entry.size)))
            )
        case .put:
            release(record.writer)
            index.put(record.entry)
        case .abandon: release(record.writer)
        case .remove:
            index.remove(key)
            unfinished.append(key)
        case .evict:
            index.evict(key)
            unfinished.append(key)
        case .done: unfinished = []
        case .touch: index.touch(key, uses: Int(record.entry.uses))
        }
    }

    /// Appends records; all or none of them count.
    func append(_ records: [LedgerRecord]) throws(SystemError) {
        guard let file else { throw SystemError(.pwrite, EBADF, path: layout.ledger) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(records.count * LedgerRecord.size)
        for record in records { record.append(to: &bytes, salt: header.salt) }
        takeRoom(for: bytes.count, file)
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
            Log.write(.warning, .store, "the ledger is incomplete: \(error)")
        }
    }

    /// Takes room on the device ahead, so that a full disk does not keep removals from being written down.
    private func takeRoom(for count: Int, _ file: DirectoryLock.OpenFile) {
        guard offset + count > allocatedEnd else { return }
        let room = count + (64 << 10)
        if (try? files.allocate(file.descriptor, from: offset, count: room)) != nil { allocatedEnd = offset + room }
    }

    /// Writes the ledger anew, with what is there now and nothing of the past.
    func rewrite() throws(SystemError) {
        let boot = isDoubtful ? header.boot : bootNumber()
        let header = LedgerHeader(salt: UInt64.random(in: 1...UInt64.max), boot: boot)
        var bytes = header.bytes
        bytes.reserveCapacity((index.count + outstanding.count + 1) * LedgerRecord.size)
        index.forEach { LedgerRecord(.put, $0).append(to: &bytes, salt: header.salt) }
        for (writer, reservation) in outstanding {
            var entry = IndexEntry()
            (entry.key, entry.size) = (reservation.key, UInt32(clamping: reservation.allocated))
            LedgerRecord(.begin, writer: writer, entry).append(to: &bytes, salt: header.salt)
        }
        let temporary = "\(layout.ledger).new"
        let new = DirectoryLock.OpenFile(try files.open(temporary, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW))
        try files.write(bytes, to: new.descriptor, at: 0)
        try files.rename(temporary, to: layout.ledger)
        adopt(new, header, end: bytes.count)
        needsRewrite = false
    }

    /// A number that differs each time the machine was started.
    private func bootNumber() -> UInt64 {
        let path = "/proc/sys/kernel/random/boot_id"
        guard let file = try? files.open(path, O_RDONLY), let id = try? files.bytes(of: file, count: 64) else {
            return 0
        }
        return id.withUnsafeBytes { Checksum.of($0) }
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
