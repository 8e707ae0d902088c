import EideticCore
import EideticStore
import Glibc

/// Reads entries from a tar archive, one after the other; members without a key are passed over.
struct ArchiveReader: ~Copyable {
    /// The longest records before a member.
    private static let recordSizeLimit = 1 << 20

    private let file: FileDescriptor
    private let files = FileSystem()
    private let memberSizeLimit: Int

    /// Begins to read; members of more than `limit` bytes are refused.
    init(file: consuming FileDescriptor, memberSizeLimit: ByteCount) {
        self.file = file
        self.memberSizeLimit = memberSizeLimit.bytes
    }

    /// The next entry; `nil` at the end.
    ///
    /// Throws `truncated` where the archive ends before its mark, `corrupt` where it is no archive or is damaged,
    /// `checksumMismatch`, `limitExceeded`, and what the file system says.
    func next() throws(EideticError) -> ArchivedEntry? {
        var records = PaxRecords()
        while let header = try readHeader() {
            let isRecords = header.kind == .extendedHeader
            let sizeLimit = isRecords ? Self.recordSizeLimit : memberSizeLimit
            guard header.size <= sizeLimit else {
                throw EideticError(
                    .limitExceeded,
                    message: "\(header.name): larger than the limit of \(ByteCount(sizeLimit))"
                )
            }
            let bytes = Array(try read(count: header.size + header.padding).prefix(header.size))
            if isRecords {
                guard let parsedRecords = PaxRecords(bytes) else {
                    throw EideticError(.corrupt, message: "a damaged record")
                }
                records = parsedRecords
            } else if header.kind == .file, records["EIDETIC.key"] != nil {
                return try ArchivedEntry(bytes: bytes, records: records)
            } else {
                records = PaxRecords()
            }
        }
        return nil
    }

    private func readHeader() throws(EideticError) -> TarHeader? {
        let bytes = try read(count: TarHeader.length)
        if bytes.allSatisfy({ $0 == 0 }) { return nil }
        guard let header = TarHeader(bytes) else {
            throw EideticError(.corrupt, message: "not an archive, or a damaged one")
        }
        return header
    }

    private func read(count: Int) throws(EideticError) -> [UInt8] {
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(SystemError) {
                while filled < count {
                    let target = UnsafeMutableRawBufferPointer(
                        rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...]
                    )
                    let read = try files.read(file, into: target)
                    if read == 0 { break }
                    filled += read
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw FileContents.error(for: failure) }
        guard bytes.count == count else { throw EideticError(.truncated, message: "the archive ends too early") }
        return bytes
    }
}
