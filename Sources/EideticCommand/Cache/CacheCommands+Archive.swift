import EideticCodecs
import EideticCore
import EideticStore
import Glibc

extension CacheCommands {
    private static let archiveOperand = Operands(
        synopsis: "FILE",
        help: "a tar archive; - is the standard input or output",
        count: 1...1,
        completion: .files
    )

    static let export = makeCommand(
        "export",
        summary: "write all entries that are not too old into a tar archive",
        operands: archiveOperand,
        notes: ["The archive's members are picture files; their keys and dates are in records beside them."]
    ) { cache, arguments throws(EideticError) in
        let path = arguments.operands[0]
        do throws(EideticError) {
            let count = try writeArchive(of: cache, to: path)
            if path != "-" { TextStream.output.writeLine("\(count == 1 ? "1 entry" : "\(count) entries") written") }
        } catch {
            throw EideticError(error.code, message: "\(path): \(error.message)")
        }
        return .success
    }

    static let `import` = makeCommand(
        "import",
        summary: "put the entries of an archive into the cache",
        operands: archive,
        notes: ["An entry that the cache has already is replaced. Damaged members are refused."]
    ) { cache, arguments throws(EideticError) in
        let path = arguments.operands[0]
        var count = 0
        do throws(EideticError) {
            let reader = ArchiveReader(file: try input(path), memberSizeLimit: DecodeLimits.standard.encodedBytes)
            while let entry = try reader.next() {
                try cache.write(entry.bytes, for: entry.key, metadata: entry.metadata)
                count += 1
            }
        } catch {
            throw EideticError(error.code, message: "\(path): \(error.message), after \(count) entries")
        }
        TextStream.output.writeLine("\(count == 1 ? "1 entry" : "\(count) entries") read")
        return .success
    }

    /// Writes the archive: to a temporary file first, then a rename.
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
        let entries = (try? cache.entries()) ?? []
        for info in entries.sorted(by: { $0.key < $1.key }) where !info.isExpired {
            // One that has gone meanwhile, or is damaged, is left out.
            guard let entry = (try? cache.read(info.key)) ?? nil else { continue }
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

    /// A number of its own for a standard stream, which may then be closed.
    private static func duplicate(_ number: Int32) throws(SystemError) -> Int32 {
        let copy = dup(number)
        guard copy >= 0 else { throw SystemError(.open, errorNumber: errno) }
        return copy
    }
}
