import EideticCore
import EideticStore
import Glibc

/// A reader of the entries of a tar archive; it skips members without a key.
struct ArchiveReader: ~Copyable {
    /// The maximum size of an extended header, in bytes.
    private static let recordSizeLimit = 1 << 20

    private let file: FileDescriptor
    private let files = FileSystem()
    private let memberSizeLimit: Int

    /// Creates a reader that refuses larger members than `memberSizeLimit`.
    init(file: consuming FileDescriptor, memberSizeLimit: ByteCount) {
        self.file = file
        self.memberSizeLimit = memberSizeLimit.bytes
    }

    /// Reads the next entry.
    ///
    /// - Returns: The entry; `nil` at the end of the archive.
    /// - Throws: `truncated` if the archive ends before its end mark, `corrupt` if the file is not an archive or is
    ///   damaged, `checksumMismatch`, `limitExceeded`, or an error of the file system.
    func next() throws(EideticError) -> ArchivedEntry? {
        var records = PaxRecords()
        while let header = try readHeader() {
            let isRecords = header.kind == .extendedHeader
            let sizeLimit = isRecords ? Self.recordSizeLimit : memberSizeLimit
            guard header.size <= sizeLimit else {
                throw EideticError(
                    .limitExceeded,
                    message: "\(header.name): exceeds the limit of \(ByteCount(sizeLimit))"
                )
            }
            let bytes = Array(try read(count: header.size + header.padding).prefix(header.size))
            if isRecords {
                guard let parsedRecords = PaxRecords(bytes) else {
                    throw EideticError(.corrupt, message: "a damaged extended header")
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
            throw EideticError(.corrupt, message: "not a tar archive, or a damaged header")
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
        guard bytes.count == count else { throw EideticError(.truncated, message: "the archive is truncated") }
        return bytes
    }
}
