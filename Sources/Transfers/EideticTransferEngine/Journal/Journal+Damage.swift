import EideticCore
import EideticTransfer
import Glibc

// What is damaged in a journal is kept for whoever wants to look at it; the journal goes on without it.
extension Journal {
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
