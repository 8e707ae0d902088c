import EideticCodecs
import EideticCore
import EideticStore
import Glibc

extension CacheCommands {
    private static let archiveOperand = Operands(
        synopsis: "FILE",
        help: "a tar archive; - is standard input or standard output",
        count: 1...1,
        completion: .files
    )

    static let export = makeCommand(
        "export",
        summary: "write all unexpired entries to a tar archive",
        operands: archiveOperand,
        notes: ["The members of the archive are image files; pax records contain their keys and dates."]
    ) { cache, arguments throws(EideticError) in
        let path = arguments.operands[0]
        do throws(EideticError) {
            let count = try writeArchive(of: cache, to: path)
            if path != "-" { TextStream.output.writeLine("\(count == 1 ? "1 entry" : "\(count) entries") exported") }
        } catch {
            throw EideticError(error.code, message: "\(path): \(error.message)")
        }
        return .success
    }

    static let `import` = makeCommand(
        "import",
        summary: "add the entries of an archive to the cache",
        operands: archiveOperand,
        notes: ["Existing entries are replaced. Damaged members are refused."]
    ) { cache, arguments throws(EideticError) in
        let path = arguments.operands[0]
        var count = 0
        do throws(EideticError) {
            let reader = ArchiveReader(file: try openInput(path), memberSizeLimit: DecodeLimits.standard.encodedBytes)
            while let entry = try reader.next() {
                try cache.blocking.insert(entry.bytes, for: entry.key, metadata: entry.metadata)
                count += 1
            }
        } catch {
            throw EideticError(error.code, message: "\(path): \(error.message), after \(count) entries")
        }
        TextStream.output.writeLine("\(count == 1 ? "1 entry" : "\(count) entries") imported")
        return .success
    }

    /// Writes all entries to a temporary file, which is then renamed.
    private static func writeArchive(of cache: DiskCache, to path: String) throws(EideticError) -> Int {
        let files = FileSystem()
        let temporary = path == "-" ? nil : "\(path).\(getpid()).tmp"
        do throws(SystemError) {
            let output: FileDescriptor
            if let temporary {
                output = try files.open(temporary, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
            } else {
                output = FileDescriptor(adopting: try duplicate(STDOUT_FILENO))
            }
            let count = try writeEntries(of: cache, to: output)
            if let temporary { try files.rename(temporary, to: path) }
            return count
        } catch {
            if let temporary { try? files.unlink(temporary) }
            throw FileContents.error(for: error)
        }
    }

    private static func writeEntries(of cache: DiskCache, to file: consuming FileDescriptor) throws(SystemError) -> Int
    {
        var writer = ArchiveWriter(file: file)
        var count = 0
        let entries = (try? cache.blocking.entries()) ?? []
        for info in entries.sorted(by: { $0.key < $1.key }) where !info.isExpired {
            // Entries that are damaged, or were removed meanwhile, are skipped.
            guard let entry = (try? cache.blocking.read(info.key)) ?? nil else { continue }
            try writer.append(entry)
            count += 1
        }
        try writer.finish()
        return count
    }

    private static func openInput(_ path: String) throws(EideticError) -> FileDescriptor {
        do throws(SystemError) {
            if path == "-" { return FileDescriptor(adopting: try duplicate(STDIN_FILENO)) }
            return try FileSystem().open(path, flags: O_RDONLY)
        } catch {
            throw FileContents.error(for: error)
        }
    }

    /// Returns a new file descriptor for a standard stream, which can be closed independently.
    private static func duplicate(_ descriptor: Int32) throws(SystemError) -> Int32 {
        let copy = dup(descriptor)
        guard copy >= 0 else { throw SystemError(.open, errorNumber: errno) }
        return copy
    }
}
