import EideticCore
import EideticStore
import Glibc

/// Writes entries into a tar archive, one after the other.
struct ArchiveWriter: ~Copyable {
    private let file: FileDescriptor
    private let files = FileSystem()
    private var names = OutputNames()

    init(_ file: consuming FileDescriptor) { self.file = file }

    /// Adds an entry.
    mutating func add(_ entry: DiskCache.Entry) throws(SystemError) {
        let archived = ArchivedEntry(entry)
        let modified = Int(entry.metadata.stored.seconds)
        try add(archived.records.bytes, "eidetic-records", modified, .records)
        var ending = ""
        if case .format(let format) = ImageFormat.detect(entry.bytes, isComplete: true) {
            ending = ".\(format.fileExtension)"
        }
        let name = names.next(for: entry.key, longest: 80)
        try add(entry.bytes, name + ending, modified, .file)
    }

    /// Marks the archive's end.
    func finish() throws(SystemError) { try write([UInt8](repeating: 0, count: 2 * TarHeader.length)) }

    private func add(_ bytes: [UInt8], _ name: String, _ modified: Int, _ kind: TarHeader.Kind) throws(SystemError) {
        let header = TarHeader(name: name, size: bytes.count, modified: modified, kind: kind)
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
