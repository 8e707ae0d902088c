import EideticCore
import EideticStore
import Glibc

/// A writer of cache entries to a tar archive.
struct ArchiveWriter: ~Copyable {
    private let file: FileDescriptor
    private let files = FileSystem()
    private var names = UniqueFileNames()

    init(file: consuming FileDescriptor) { self.file = file }

    /// Appends an entry.
    mutating func append(_ entry: DiskCache.Entry) throws(SystemError) {
        let archived = ArchivedEntry(entry)
        let modificationTime = Int(entry.metadata.storageTime.seconds)
        try append(
            archived.records.bytes,
            name: "eidetic-records",
            modificationTime: modificationTime,
            kind: .extendedHeader
        )
        var fileExtension = ""
        if case .format(let format) = ImageFormat.detect(in: entry.bytes, isComplete: true) {
            fileExtension = ".\(format.fileExtension)"
        }
        let name = names.next(for: entry.key, maximumLength: 80)
        try append(entry.bytes, name: name + fileExtension, modificationTime: modificationTime, kind: .file)
    }

    /// Writes the end mark of the archive.
    func finish() throws(SystemError) { try write([UInt8](repeating: 0, count: 2 * TarHeader.length)) }

    private func append(_ bytes: [UInt8], name: String, modificationTime: Int, kind: TarHeader.Kind) throws(SystemError)
    {
        let header = TarHeader(name: name, size: bytes.count, modificationTime: modificationTime, kind: kind)
        try write(header.bytes)
        try write(bytes)
        try write([UInt8](repeating: 0, count: header.padding))
    }

    private func write(_ bytes: [UInt8]) throws(SystemError) {
        try bytes.withUnsafeBufferPointer { buffer throws(SystemError) in
            try files.write(UnsafeRawBufferPointer(buffer), to: file)
        }
    }
}
