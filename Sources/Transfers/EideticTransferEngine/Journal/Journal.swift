import EideticCore
import EideticTransfer
import Glibc

/// The place of a record in the journal.
struct JournalPlace: Sendable, Hashable {
    /// The position of the record in the file.
    var offset: UInt64
    /// The number of bytes of the record.
    var length: UInt32
}

/// An append-only file of records, each with a checksum, which has everything that outlives the process.
///
/// Records are collected in memory, and written together by ``flush()``: after that they outlive the process. Once
/// ``file`` is synchronised they outlive a loss of power. A record can have a secret, which is stored behind it, and is
/// overwritten in place when it is not needed any more. The journal is used on one thread.
final class Journal {
    /// The open file, for the thread that synchronises it.
    final class File: Sendable {
        let descriptor: FileDescriptor
        init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
    }

    var file: File
    let path: String
    let fileSystem: FileSystem
    private var pending: [UInt8] = []
    /// The length of the file, with the records that are not yet written.
    var length: UInt64
    /// A Boolean value indicating whether the file may have bytes behind the records that are written.
    private var needsTruncation = false
    /// A Boolean value indicating whether the file's name may not outlive a loss of power.
    var needsDirectorySynchronization = false
    /// The file that a compaction has replaced, until it is erased.
    var replacedFile: File?

    /// The size of the lengths and the checksum before a record.
    static let headSize = 16
    static let magic = Array("eidetic-transfers \(version)\n".utf8)
    /// The version of the format; an increase of it makes earlier programs leave the file alone.
    static let version = 1
    /// The largest number of bytes in memory before they are written.
    static let flushThreshold = 1 << 20

    /// Opens the journal at `path`, and calls `body` for each record.
    ///
    /// A record that does not match its checksum is set aside, in a file beside the journal. At the end it is removed:
    /// a loss of power may have truncated it before it was synchronised.
    init(
        path: String,
        fileSystem: FileSystem,
        replay body: (JournalRecord, JournalPlace) -> Void
    ) throws(SystemError) {
        self.path = path
        self.fileSystem = fileSystem
        try Self.eraseCopies(of: path, with: fileSystem)
        let descriptor = try fileSystem.open(path, flags: O_RDWR | O_CREAT, mode: 0o600)
        let size = try fileSystem.size(of: descriptor)
        var reader = JournalReader(fileSystem: fileSystem, size: UInt64(size))
        length = try reader.readAll(from: descriptor, apply: body)
        let unfinished = reader.unfinishedErasures
        if length < size {
            Log.write(
                .warning,
                category: .fetch,
                message: "\(path): \(UInt64(size) - length) bytes at the end of the journal are not valid"
            )
            try fileSystem.truncate(descriptor, to: Int(length))
        }
        file = File(descriptor)
        try setAside(reader.damages)
        try file.erase(unfinished, with: fileSystem)
        guard length == 0 else { return }
        pending = Self.magic
        length = UInt64(pending.count)
        try flush()
    }

    /// Returns the version of the journal at `path`, if it is a later one: such a journal is left as it is.
    static func laterVersion(at path: String, fileSystem: FileSystem) throws(SystemError) -> Int? {
        let head: [UInt8]
        do throws(SystemError) {
            let file = try fileSystem.open(path, flags: O_RDONLY)
            head = try fileSystem.bytes(of: file, at: 0, count: 64)
        } catch {
            guard error.errorNumber == ENOENT else { throw error }
            return nil
        }
        guard head.starts(with: magic.prefix { $0 != UInt8(ascii: " ") }), let end = head.firstIndex(of: 10),
            let last = String(decoding: head[..<end], as: UTF8.self).split(separator: " ").last, let found = Int(last)
        else { return nil }
        return found > version ? found : nil
    }

    /// Appends a record; it is written with the next ``flush()``.
    @discardableResult
    func append(_ record: JournalRecord, secret: [UInt8] = []) throws(SystemError) -> JournalPlace {
        try append(bytes: Self.encode(record, secret: secret))
    }

    private func append(bytes: [UInt8]) throws(SystemError) -> JournalPlace {
        let place = JournalPlace(offset: length, length: UInt32(truncatingIfNeeded: bytes.count))
        pending += bytes
        length += UInt64(bytes.count)
        if pending.count >= Self.flushThreshold { try flush() }
        return place
    }

    /// Writes the collected records to the file.
    func flush() throws(SystemError) {
        do throws(SystemError) {
            if needsDirectorySynchronization { try synchronizeDirectory() }
            guard !pending.isEmpty else { return }
            try truncateIfNeeded()
            needsTruncation = true
            try fileSystem.write(pending, to: file.descriptor, at: Int(writtenLength))
            needsTruncation = false
        } catch {
            try? truncateIfNeeded()
            throw SystemError(error.call, errorNumber: error.errorNumber, path: path)
        }
        pending.removeAll(keepingCapacity: pending.capacity <= 65_536)
    }

    private var writtenLength: UInt64 { length - UInt64(pending.count) }

    /// Removes what a write that failed has left behind the records: it could be read as records later.
    private func truncateIfNeeded() throws(SystemError) {
        guard needsTruncation else { return }
        try fileSystem.truncate(file.descriptor, to: Int(writtenLength))
        needsTruncation = false
    }

    func synchronizeDirectory() throws(SystemError) {
        try fileSystem.synchronizeDirectory(of: path)
        needsDirectorySynchronization = false
    }

    /// Removes the records behind a length of the journal, those that are written included.
    func removeRecords(after length: UInt64) {
        guard length < self.length else { return }
        if length >= writtenLength {
            pending.removeLast(Int(self.length - length))
        } else {
            pending = []
            needsTruncation = true
        }
        self.length = length
        try? truncateIfNeeded()
    }

    /// Reads a record, and its secret, which is empty if it was erased.
    func record(at place: JournalPlace) throws(SystemError) -> (record: JournalRecord, secret: [UInt8]) {
        try flush()
        let bytes = try bytes(at: place)
        guard let decoded = JournalReader.decode(bytes) else {
            throw SystemError(.read, errorNumber: EIO, path: path)
        }
        return decoded
    }

    func bytes(at place: JournalPlace) throws(SystemError) -> [UInt8] {
        let bytes = try fileSystem.bytes(of: file.descriptor, at: Int(place.offset), count: Int(place.length))
        guard bytes.count == Int(place.length) else { throw SystemError(.read, errorNumber: EIO, path: path) }
        return bytes
    }

    /// Marks records as invalid, so that they may be overwritten once the marks are synchronised.
    func invalidate(_ places: [JournalPlace]) throws(SystemError) {
        try flush()
        for place in places {
            try fileSystem.write([JournalReader.invalidMark], to: file.descriptor, at: Int(place.offset) + 3)
        }
    }

    /// Overwrites the secret of a record with zeros.
    func eraseSecret(of place: JournalPlace) throws(SystemError) {
        try flush()
        let head = try fileSystem.bytes(of: file.descriptor, at: Int(place.offset), count: Self.headSize)
        guard let lengths = JournalReader.lengths(head), lengths.secret > 0, !lengths.isInvalid else { return }
        let zeros = [UInt8](repeating: 0, count: lengths.secret)
        let offset = Int(place.offset) + Self.headSize + lengths.payload
        try fileSystem.write(zeros, to: file.descriptor, at: offset)
    }

    static func encode(_ record: JournalRecord, secret: [UInt8]) -> [UInt8] {
        var writer = WireWriter()
        writer.bytes = [UInt8](repeating: 0, count: headSize)
        record.write(to: &writer)
        var head = WireWriter()
        head.append(UInt32(writer.bytes.count - headSize))
        head.append(UInt32(secret.count))
        // The checksum is that of the lengths and the payload, between which it is then written.
        writer.bytes.replaceSubrange(head.bytes.count..<headSize, with: head.bytes)
        head.append(writer.bytes[head.bytes.count...].withUnsafeBytes { Checksum.value(of: $0) })
        writer.bytes.replaceSubrange(..<headSize, with: head.bytes)
        writer.bytes += secret
        return writer.bytes
    }

    /// The largest number of damaged bytes that are set aside at a time.
    private static let partSize = JournalReader.maximumRecordSize

    /// Moves damaged bytes to a file beside the journal, and leaves records there that are marked as invalid.
    func setAside(_ damages: [Range<UInt64>]) throws(SystemError) {
        guard !damages.isEmpty else { return }
        let copy = path + ".damaged"
        fileSystem.removeIfPresent(copy)
        let target = try fileSystem.open(copy, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        var written = 0
        for damage in damages {
            for part in Self.parts(of: damage) {
                let bytes = try fileSystem.bytes(of: file.descriptor, at: Int(part.lowerBound), count: part.count)
                try fileSystem.write(bytes, to: target, at: written)
                written += bytes.count
            }
        }
        try fileSystem.synchronizeData(target)
        for part in damages.flatMap({ Self.parts(of: $0) }) {
            try fileSystem.write(Self.filling(part), to: file.descriptor, at: Int(part.lowerBound))
        }
        let message = "\(path): \(written) bytes were damaged, and are in \(copy); the other records were read"
        Log.write(.warning, category: .fetch, message: message)
    }

    /// Returns the parts of damaged bytes, each large enough for the head of a record.
    private static func parts(of damage: Range<UInt64>) -> [Range<UInt64>] {
        var start = damage.lowerBound
        var parts = [Range<UInt64>]()
        while start < damage.upperBound {
            let rest = damage.upperBound - start
            let count = min(rest, UInt64(partSize))
            let isNextShort = rest > count && rest - count <= UInt64(headSize)
            let end = start + count - (isNextShort ? UInt64(headSize) + 1 : 0)
            parts.append(start..<end)
            start = end
        }
        return parts
    }

    /// Returns what replaces damaged bytes: the mark of the journal, or a record that is marked as invalid.
    private static func filling(_ part: Range<UInt64>) -> [UInt8] {
        guard part.lowerBound > 0 else { return magic }
        // Too short for a record, and so no loss.
        guard part.count > headSize else { return [] }
        let length = UInt32(part.count - headSize)
        var bytes = [UInt8](repeating: 0, count: part.count)
        for index in 0..<3 { bytes[index] = UInt8(truncatingIfNeeded: length >> (8 * UInt32(index))) }
        bytes[3] = JournalReader.invalidMark
        return bytes
    }
}
