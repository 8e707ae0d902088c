import EideticCore
import EideticStore
import Glibc

/// Reads entries from a tar archive, one after the other; members without a key are passed over.
struct ArchiveReader: ~Copyable {
    /// The longest records before a member.
    private static let recordLimit = 1 << 20

    private let file: FileDescriptor
    private let files = FileSystem()
    private let limit: Int

    /// Begins to read; members of more than `limit` bytes are refused.
    init(_ file: consuming FileDescriptor, limit: ByteCount) {
        self.file = file
        self.limit = limit.bytes
    }

    /// The next entry; `nil` at the end.
    ///
    /// Throws `truncated` where the archive ends before its mark, `corrupt` where it is no archive or is damaged,
    /// `checksumMismatch`, `limitExceeded`, and what the file system says.
    func next() throws(EideticError) -> ArchivedEntry? {
        var records = TarRecords()
        while let header = try header() {
            let isRecords = header.kind == .records
            let largest = isRecords ? Self.recordLimit : limit
            guard header.size <= largest else {
                throw EideticError(.limitExceeded, "\(header.name): larger than the limit of \(ByteCount(largest))")
            }
            let bytes = Array(try read(header.size + header.padding).prefix(header.size))
            if isRecords {
                guard let read = TarRecords(bytes) else { throw EideticError(.corrupt, "a damaged record") }
                records = read
            } else if header.kind == .file, records["EIDETIC.key"] != nil {
                return try ArchivedEntry(bytes, records)
            } else {
                records = TarRecords()
            }
        }
        return nil
    }

    private func header() throws(EideticError) -> TarHeader? {
        let bytes = try read(TarHeader.length)
        if bytes.allSatisfy({ $0 == 0 }) { return nil }
        guard let header = TarHeader(bytes) else { throw EideticError(.corrupt, "not an archive, or a damaged one") }
        return header
    }

    private func read(_ count: Int) throws(EideticError) -> [UInt8] {
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(SystemError) {
                while filled < count {
                    let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
                    let read = try files.read(file, into: rest)
                    if read == 0 { break }
                    filled += read
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw FileBytes.describe(failure) }
        guard bytes.count == count else { throw EideticError(.truncated, "the archive ends too early") }
        return bytes
    }
}
