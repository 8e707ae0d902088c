import EideticCore
import EideticTransfer
import Glibc

/// Reads the records of a journal in order, with a buffer of bounded size.
struct JournalReader {
    private let fileSystem: FileSystem
    private let size: UInt64
    private var buffer: [UInt8] = []
    private var bufferStart: UInt64 = 0

    /// The records that are marked as invalid and have bytes still.
    private(set) var unfinishedErasures: [JournalPlace] = []
    /// The bytes before the last valid record that are none.
    private(set) var damages: [Range<UInt64>] = []

    /// The last byte of the length of a payload that is not valid any more.
    static let invalidMark: UInt8 = 0x80
    /// The largest size of a record, far above that of any record that is written.
    static let maximumRecordSize = 1 << 20

    init(fileSystem: FileSystem, size: UInt64) {
        self.fileSystem = fileSystem
        self.size = size
    }

    /// Calls `body` for each valid record, and returns the position behind the last one; 0 for a file without any.
    ///
    /// A damaged record does not take with it those that follow.
    mutating func readAll(
        from file: borrowing FileDescriptor,
        apply body: (JournalRecord, JournalPlace) -> Void
    ) throws(SystemError) -> UInt64 {
        guard let magic = try bytes(at: 0, count: Journal.magic.count, of: file) else { return 0 }
        let start = UInt64(Journal.magic.count)
        var offset = start
        var end = magic == Journal.magic ? start : 0
        while offset < size {
            if let count = try readRecord(at: offset, of: file, apply: body) {
                offset += count
                end = offset
            } else {
                guard let next = try validRecord(after: offset, of: file) else { break }
                damages.append(offset..<next)
                offset = next
            }
        }
        // What is behind the last record is removed with the end of the file.
        damages.removeAll { $0.lowerBound >= end }
        if magic != Journal.magic, end > 0 { damages.append(0..<start) }
        return end
    }

    /// Reads the record at a position; returns its length, or `nil` if it is damaged.
    private mutating func readRecord(
        at offset: UInt64,
        of file: borrowing FileDescriptor,
        apply body: (JournalRecord, JournalPlace) -> Void
    ) throws(SystemError) -> UInt64? {
        guard let head = try bytes(at: offset, count: Journal.headSize, of: file), let lengths = Self.lengths(head),
            case let count = Journal.headSize + lengths.payload + lengths.secret,
            let bytes = try bytes(at: offset, count: count, of: file)
        else { return nil }
        let place = JournalPlace(offset: offset, length: UInt32(count))
        if lengths.isInvalid {
            if bytes[Journal.headSize...].contains(where: { $0 != 0 }) {
                // The lengths have no checksum: what they reach over is erased only if another record follows.
                guard try isBoundary(at: offset + UInt64(count), of: file) else { return nil }
                unfinishedErasures.append(place)
            }
        } else if let decoded = Self.decode(bytes) {
            body(decoded.record, place)
        } else {
            return nil
        }
        return UInt64(count)
    }

    /// Returns the position of the first record with a right checksum behind a damaged one, as far as that may reach.
    private mutating func validRecord(
        after damage: UInt64,
        of file: borrowing FileDescriptor
    ) throws(SystemError) -> UInt64? {
        // A body of a server is in a record: its bytes are taken for no record while the length before it is right.
        let head = try bytes(at: damage, count: Journal.headSize, of: file)
        if let lengths = head.flatMap({ Self.lengths($0) }) {
            let next = damage + UInt64(Journal.headSize + lengths.payload + lengths.secret)
            if try isBoundary(at: next, of: file) { return next }
        }
        let last = min(size, damage + UInt64(2 * Self.maximumRecordSize + Journal.headSize))
        var next = damage + 1
        while next < last {
            if try isValid(at: next, of: file) { return next }
            next += 1
        }
        return nil
    }

    /// Returns whether the file ends at a position, or a valid or an erased record begins there.
    private mutating func isBoundary(
        at offset: UInt64,
        of file: borrowing FileDescriptor
    ) throws(SystemError) -> Bool {
        if offset == size { return true }
        let head = try bytes(at: offset, count: Journal.headSize, of: file)
        if head.flatMap({ Self.lengths($0) })?.isInvalid == true { return true }
        return try isValid(at: offset, of: file)
    }

    private mutating func isValid(at offset: UInt64, of file: borrowing FileDescriptor) throws(SystemError) -> Bool {
        guard let head = try bytes(at: offset, count: Journal.headSize, of: file), let lengths = Self.lengths(head),
            let bytes = try bytes(
                at: offset,
                count: Journal.headSize + lengths.payload + lengths.secret,
                of: file
            )
        else { return false }
        return Self.decode(bytes) != nil
    }

    /// Decodes the bytes of one record; `nil` if they are not valid.
    static func decode(_ bytes: [UInt8]) -> (record: JournalRecord, secret: [UInt8])? {
        guard let lengths = lengths(bytes), !lengths.isInvalid,
            bytes.count == Journal.headSize + lengths.payload + lengths.secret
        else { return nil }
        let end = Journal.headSize + lengths.payload
        let checkedBytes = Array(bytes[..<8]) + bytes[Journal.headSize..<end]
        var checksumReader = WireReader(Array(bytes[8..<Journal.headSize]))
        var reader = WireReader(checkedBytes)
        guard (try? checksumReader.integer(UInt64.self)) == checkedBytes.withUnsafeBytes(Checksum.value),
            // The lengths.
            (try? reader.integer(UInt64.self)) != nil,
            let record = try? JournalRecord(from: &reader), reader.remainingCount == 0
        else { return nil }
        let secret = Array(bytes[end...])
        return (record, secret.contains { $0 != 0 } ? secret : [])
    }

    /// Returns the lengths of the payload and of the secret of a record; `nil` if they cannot be right.
    static func lengths(_ head: [UInt8]) -> (payload: Int, secret: Int, isInvalid: Bool)? {
        var reader = WireReader(head)
        guard let first = try? reader.integer(UInt32.self), let secret = try? reader.integer(UInt32.self),
            case let payload = first & 0xff_ffff, payload > 0, payload <= maximumRecordSize,
            secret <= maximumRecordSize, case let mark = UInt8(first >> 24), mark == 0 || mark == invalidMark
        else { return nil }
        return (Int(payload), Int(secret), mark == invalidMark)
    }

    private mutating func bytes(
        at offset: UInt64,
        count: Int,
        of file: borrowing FileDescriptor
    ) throws(SystemError) -> [UInt8]? {
        guard offset + UInt64(count) <= size else { return nil }
        if offset < bufferStart || offset + UInt64(count) > bufferStart + UInt64(buffer.count) {
            try fill(at: offset, count: count, of: file)
        }
        let start = Int(offset - bufferStart)
        guard buffer.count >= start + count else { return nil }
        return Array(buffer[start..<start + count])
    }

    private mutating func fill(
        at offset: UInt64,
        count: Int,
        of file: borrowing FileDescriptor
    ) throws(SystemError) {
        bufferStart = offset
        buffer = try fileSystem.bytes(of: file, at: Int(offset), count: min(max(count, 262_144), Int(size - offset)))
    }
}
