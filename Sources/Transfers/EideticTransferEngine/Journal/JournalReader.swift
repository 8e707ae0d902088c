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

    /// The last byte of the length of a payload that is not valid any more.
    static let invalidMark: UInt8 = 0x80
    /// The largest size of a record, far above that of any record that is written.
    static let maximumRecordSize = 1 << 20

    init(fileSystem: FileSystem, size: UInt64) { (self.fileSystem, self.size) = (fileSystem, size) }

    /// Calls `body` for each valid record, and returns the position behind the last one; 0 for a file without any.
    mutating func readAll(
        from file: borrowing FileDescriptor,
        apply body: (JournalRecord, JournalPlace) -> Void
    ) throws(SystemError) -> UInt64 {
        var offset = UInt64(Journal.magic.count)
        guard try bytes(at: 0, count: Journal.magic.count, of: file) == Journal.magic else { return 0 }
        while let head = try bytes(at: offset, count: Journal.headSize, of: file), let lengths = Self.lengths(head) {
            let count = Journal.headSize + lengths.payload + lengths.secret
            let place = JournalPlace(offset: offset, length: UInt32(count))
            guard let bytes = try bytes(at: offset, count: count, of: file) else { break }
            if lengths.isInvalid {
                if bytes[Journal.headSize...].contains(where: { $0 != 0 }) { unfinishedErasures.append(place) }
            } else if let decoded = Self.decode(bytes) {
                body(decoded.record, place)
            } else {
                break
            }
            offset += UInt64(count)
        }
        return offset
    }

    /// Decodes the bytes of one record; `nil` if they are not valid.
    static func decode(_ bytes: [UInt8]) -> (record: JournalRecord, secret: [UInt8])? {
        guard let lengths = lengths(bytes), !lengths.isInvalid,
            bytes.count == Journal.headSize + lengths.payload + lengths.secret
        else {
            return nil
        }
        let payload = Array(bytes[Journal.headSize..<Journal.headSize + lengths.payload])
        var reader = WireReader(Array(bytes[8..<Journal.headSize]))
        let checksum = (bytes[..<8] + payload).withUnsafeBytes { Checksum.value(of: $0) }
        guard (try? reader.integer(UInt64.self)) == checksum,
            let record = try? WireReader.decode(JournalRecord.self, from: payload)
        else { return nil }
        let secret = Array(bytes[(Journal.headSize + lengths.payload)...])
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
