import EideticCore
import Glibc

/// A file that keeps a record, written when the record has changed.
struct RecordFile<Record: WireRecord & Equatable> {
    private var written: Record?

    /// A Boolean value indicating whether the file was never written or read.
    var isNew: Bool { written == nil }

    mutating func restore(_ record: Record) { written = record }

    /// Replaces the file if the record has changed; makes its directory first if there is none.
    mutating func save(
        _ record: Record,
        at path: String,
        in directory: RuntimeDirectory,
        makeDirectory: () throws(SystemError) -> Void
    ) throws(SystemError) {
        guard record != written else { return }
        let bytes = WireWriter.encode(record)
        do throws(SystemError) { try directory.replace(path, with: bytes) } catch {
            guard error.errorNumber == ENOENT else { throw error }
            try makeDirectory()
            try directory.replace(path, with: bytes)
        }
        written = record
    }
}
