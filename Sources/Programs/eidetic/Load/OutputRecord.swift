import EideticCore
import Glibc

/// The record of the files in an output directory, with which `--continue` goes on where an earlier run stopped.
///
/// A line is appended when a file is complete: its name, the changes such as a size, and the URL, separated by tabs. A
/// line without its end, which a kill may leave, is ignored. A run that has written every image removes the record.
final class OutputRecord: Sendable {
    private struct Entry: Hashable {
        let changes: String
        let url: String
    }

    /// The name of the record in the output directory.
    static let fileName = ".eidetic-load"

    /// The maximum size of a record.
    private static let limit = ByteCount.mebibytes(256)

    private let directory: String
    private let changes: String
    private let existing: [Entry: String]
    private let file: FileDescriptor

    /// Opens the record of a directory; blocks.
    ///
    /// With `continues` the files of earlier runs count; otherwise the record begins anew. Throws the error of the file
    /// system if it cannot be read or written.
    init(directory: String, changes: String, continues: Bool) throws(EideticError) {
        (self.directory, self.changes) = (directory, changes)
        let path = "\(directory)/\(Self.fileName)"
        do throws(SystemError) {
            let files = FileSystem()
            let bytes = continues ? try Self.contents(of: path, using: files) : []
            existing = Self.entries(in: bytes)
            let flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW
            file = try files.open(path, flags: continues ? flags : flags | O_TRUNC, mode: 0o644)
            if let last = bytes.last, last != UInt8(ascii: "\n") { try Self.append("\n", to: file) }
        } catch {
            let reason = FileContents.error(for: error)
            throw EideticError(reason.code, message: "\(path): \(reason.message)")
        }
    }

    private static func contents(of path: String, using files: FileSystem) throws(SystemError) -> [UInt8] {
        do throws(SystemError) {
            return try files.contents(of: path, limit: limit.bytes)
        } catch  where error.errorNumber == ENOENT {
            return []
        }
    }

    private static func entries(in bytes: [UInt8]) -> [Entry: String] {
        var entries: [Entry: String] = [:]
        // What follows the last line break is not complete.
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast() {
            let fields = line.split(separator: UInt8(ascii: "\t"), maxSplits: 2).map {
                String(decoding: $0, as: UTF8.self)
            }
            if fields.count == 3 { entries[Entry(changes: fields[1], url: fields[2])] = fields[0] }
        }
        return entries
    }

    /// Returns the path of the file that an earlier run wrote for a URL, if it is still there; blocks.
    func existingFile(for url: String) -> String? {
        guard let name = existing[Entry(changes: changes, url: url)], !name.utf8.contains(UInt8(ascii: "/")) else {
            return nil
        }
        let path = "\(directory)/\(name)"
        return (try? FileSystem().linkStatus(of: path).kind) == .regular ? path : nil
    }

    /// Records a file that is complete; blocks.
    ///
    /// A record that cannot be written costs another request in the next run, and nothing in this one.
    func add(name: String, url: String) {
        guard !url.utf8.contains(UInt8(ascii: "\n")) else { return }
        try? Self.append("\(name)\t\(changes)\t\(url)\n", to: file)
    }

    /// Removes the record.
    func remove() { try? FileSystem().unlink("\(directory)/\(Self.fileName)") }

    /// Appends in one call, so that lines of several threads do not mix.
    private static func append(_ text: String, to file: borrowing FileDescriptor) throws(SystemError) {
        try Array(text.utf8).withUnsafeBufferPointer { buffer throws(SystemError) in
            try FileSystem().write(UnsafeRawBufferPointer(buffer), to: file)
        }
    }
}
