import EideticCore
import EideticTransfer
import Glibc

// A compaction writes a new file beside the journal and renames it. What it replaces has secrets, and is erased.
extension Journal {
    /// Replaces the file by one with the records at the places, in this order, between `first` and `last`; those at
    /// `repeated` are written once more before them.
    ///
    /// - Returns: The new places. The file is synchronised; ``takeReplacedFile()`` returns the earlier one.
    func compact(
        first: [JournalRecord],
        repeating repeated: [JournalPlace],
        keeping places: [JournalPlace],
        last: [JournalRecord]
    ) throws(SystemError) -> [JournalPlace] {
        try flush()
        let temporary = Self.newPath(of: path)
        fileSystem.removeIfPresent(temporary)
        let target = try fileSystem.open(temporary, flags: O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        let (moved, written) = try write(
            first: first,
            repeated: repeated,
            places: places,
            last: last,
            to: target
        )
        try fileSystem.synchronize(target)
        // A name for the earlier file, by which the next start finds what a kill leaves of it.
        fileSystem.removeIfPresent(Self.oldPath(of: path))
        try? fileSystem.link(path, to: Self.oldPath(of: path))
        try fileSystem.rename(temporary, to: path)
        // From here on the name is that of the new file, whatever fails; the next flush tries again.
        replacedFile = file
        file = File(target)
        length = UInt64(written)
        needsDirectorySynchronization = true
        try? synchronizeDirectory()
        return moved
    }

    /// Writes the records of a compaction; returns the new places, and the length of the file.
    private func write(
        first: [JournalRecord],
        repeated: [JournalPlace],
        places: [JournalPlace],
        last: [JournalRecord],
        to target: borrowing FileDescriptor
    ) throws(SystemError) -> (moved: [JournalPlace], written: Int) {
        var buffer = Self.magic
        var written = 0
        for record in first { buffer += Self.encode(record, secret: []) }
        for place in repeated { buffer += try bytes(at: place) }
        var moved: [JournalPlace] = []
        moved.reserveCapacity(places.count)
        for place in places {
            moved.append(JournalPlace(offset: UInt64(written + buffer.count), length: place.length))
            buffer += try bytes(at: place)
            guard buffer.count >= Self.flushThreshold else { continue }
            try fileSystem.write(buffer, to: target, at: written)
            written += buffer.count
            buffer.removeAll(keepingCapacity: true)
        }
        for record in last { buffer += Self.encode(record, secret: []) }
        try fileSystem.write(buffer, to: target, at: written)
        return (moved, written + buffer.count)
    }

    /// Returns the file that a compaction has replaced, which the caller erases, and forgets it; `nil` while a loss of
    /// power could bring it back.
    func takeReplacedFile() -> File? {
        guard !needsDirectorySynchronization else { return nil }
        defer { replacedFile = nil }
        return replacedFile
    }

    private static func newPath(of path: String) -> String { path + ".new" }
    private static func oldPath(of path: String) -> String { path + ".old" }

    /// Erases a file that a compaction has replaced; may be called on any thread.
    static func erase(_ file: File, replacedAt path: String, with fileSystem: FileSystem) throws(SystemError) {
        try file.eraseAll(with: fileSystem)
        fileSystem.removeIfPresent(oldPath(of: path))
    }

    /// Erases what a compaction that was not finished has left: a copy, or the earlier file.
    static func eraseCopies(of path: String, with fileSystem: FileSystem) throws(SystemError) {
        let current = try? fileSystem.status(of: path)
        for copy in [newPath(of: path), oldPath(of: path)] {
            guard let status = try? fileSystem.status(of: copy) else { continue }
            // Before the rename the second name is that of the journal itself.
            let isCurrent = status.device == current?.device && status.inode == current?.inode
            if !isCurrent { try File(try fileSystem.open(copy, flags: O_RDWR)).eraseAll(with: fileSystem) }
            try fileSystem.unlink(copy)
        }
    }
}

extension Journal.File {
    private static let blockSize = 65_536

    /// Overwrites the whole file with zeros, and makes that safe.
    fileprivate func eraseAll(with fileSystem: FileSystem) throws(SystemError) {
        let size = try fileSystem.size(of: descriptor)
        let zeros = [UInt8](repeating: 0, count: Self.blockSize)
        for offset in stride(from: 0, to: size, by: zeros.count) {
            try fileSystem.write(Array(zeros.prefix(size - offset)), to: descriptor, at: offset)
        }
        try fileSystem.synchronizeData(descriptor)
    }
}
