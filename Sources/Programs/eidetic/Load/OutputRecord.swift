import EideticCore
import Glibc

/// The record of the files in an output directory: which URL each of them came from.
///
/// A line is appended when a file is complete: its name, its size, the changes such as a size, and the URL, separated
/// by tabs. The last line of a name counts; a line without its end, which a kill may leave, is ignored. So a file is
/// only replaced by its own URL, and `--continue` goes on where an earlier run stopped.
final class OutputRecord: Sendable {
    private struct Entry {
        let byteCount: Int
        let changes: String
        let url: String
    }

    static let fileName = ".eidetic-load"

    /// The maximum size of a record.
    private static let limit = ByteCount.mebibytes(256)

    private let directory: String
    private let changes: String
    /// The files by their names.
    private let entries: [String: Entry]
    /// The name of the file that has the changes of this run, by URL; else that of any file of the URL.
    private let names: [String: String]
    private let file: FileDescriptor

    /// Opens the record of a directory; blocks.
    ///
    /// Throws the error of the file system if it cannot be read or written.
    init(directory: String, changes: String) throws(EideticError) {
        self.directory = directory
        self.changes = changes
        let path = "\(directory)/\(Self.fileName)"
        do throws(SystemError) {
            let files = FileSystem()
            file = try Self.open(path, using: files)
            let bytes = try files.contents(of: file, limit: Self.limit.bytes)
            entries = Self.entries(in: bytes)
            names = entries.reduce(into: [:]) { names, entry in
                if names[entry.value.url] == nil || entry.value.changes == changes {
                    names[entry.value.url] = entry.key
                }
            }
            if let last = bytes.last, last != UInt8(ascii: "\n") { try Self.append("\n", to: file) }
        } catch {
            let reason = FileContents.error(for: error)
            throw EideticError(reason.code, message: "\(path): \(reason.message)")
        }
    }

    /// Opens the record; what is no file of this directory alone, such as a FIFO or a link, becomes an empty one.
    private static func open(_ path: String, using files: FileSystem) throws(SystemError) -> FileDescriptor {
        let flags = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK
        do throws(SystemError) {
            let file = try files.open(path, flags: flags)
            let status = try files.status(of: file)
            if status.kind == .regular, status.linkCount == 1 { return file }
        } catch  where [ENOENT, ELOOP, ENXIO].contains(error.errorNumber) {
            // It is made below.
        }
        try? files.unlink(path)
        return try files.open(path, flags: flags | O_CREAT | O_EXCL, mode: 0o644)
    }

    private static func entries(in bytes: [UInt8]) -> [String: Entry] {
        var entries: [String: Entry] = [:]
        // What follows the last line break is not complete.
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast() {
            let fields = line.split(separator: UInt8(ascii: "\t"), maxSplits: 3).map {
                String(decoding: $0, as: UTF8.self)
            }
            guard fields.count == 4, let byteCount = Int(fields[1]), UniqueFileNames.isSafe(fields[0]) else { continue }
            entries[fields[0]] = Entry(byteCount: byteCount, changes: fields[2], url: fields[3])
        }
        return entries
    }

    /// Returns the name of the file that an earlier run wrote for a URL, with the changes of this run if there is one.
    func name(for url: String) -> String? { names[url.withoutPasswordsOfURL] }

    /// Makes no new name equal to that of a file of the record.
    func reserveNames(in names: inout UniqueFileNames) { for name in entries.keys { _ = names.reserve(name) } }

    /// Returns the URL from which a file came, without a password; `nil` for a file of no record.
    func url(of name: String) -> String? { entries[name]?.url }

    /// Returns the path of the file that an earlier run wrote for a URL, if it is there and complete; blocks.
    func existingFile(for url: String) -> String? {
        guard let name = name(for: url), let entry = entries[name], entry.changes == changes else { return nil }
        let path = "\(directory)/\(name)"
        guard let status = try? FileSystem().linkStatus(of: path) else { return nil }
        return status.kind == .regular && status.size == entry.byteCount ? path : nil
    }

    /// Records a file that is complete; blocks.
    ///
    /// A record that cannot be written costs another request in the next run, and nothing in this one.
    func add(name: String, byteCount: Int, url: String) {
        let url = url.withoutPasswordsOfURL
        guard !url.contains(byte: UInt8(ascii: "\n")) else { return }
        if let entry = entries[name], entry.url == url, entry.changes == changes, entry.byteCount == byteCount {
            return
        }
        try? Self.append("\(name)\t\(byteCount)\t\(changes)\t\(url)\n", to: file)
    }

    /// Appends in one call, so that lines of several threads do not mix.
    private static func append(_ text: String, to file: borrowing FileDescriptor) throws(SystemError) {
        try FileSystem().write(Array(text.utf8), to: file)
    }
}
