import Eidetic
import EideticCodecs
import EideticCLI
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

    /// The option for entries of requests with header fields or credentials.
    private static let withPrivate = Option(
        name: "with-private",
        help: "also write the entries of requests with header fields or credentials"
    )

    static let export = makeCommand(
        "export",
        summary: "write all unexpired entries to a tar archive",
        operands: archiveOperand,
        options: [withPrivate],
        notes: [
            "The members of the archive are image files; pax records contain their keys and dates.",
            "Images of other sizes, and transformed ones, are made again from these; they are not exported.",
            "Entries of requests with header fields or credentials are left out; no other cache can find them by their "
                + "keys.",
        ]
    ) { cache, arguments throws(EideticError) in
        let path = arguments.operands[0]
        do throws(EideticError) {
            let counts = try writeArchive(of: cache, to: path, includesPrivate: arguments.contains(withPrivate))
            let omission = counts.omitted == 0 ? "" : ", \(counted(counts.omitted, kind: "private ")) left out"
            if path != "-" { TextStream.output.writeLine("\(counted(counts.written)) exported\(omission)") }
        } catch {
            throw EideticError(error.code, message: "\(path): \(error.message)")
        }
        return .success
    }

    static let `import` = makeCommand(
        "import",
        summary: "add the entries of an archive to the cache",
        operands: archiveOperand,
        options: SandboxOption.all,
        notes: [
            "Existing entries are replaced. Damaged members, and members that are not images, are refused.",
            "Entries expire as if they had been downloaded when they were stored first.",
        ]
    ) { cache, arguments throws(EideticError) in
        let path = arguments.operands[0], decodePolicy = SandboxOption.policy(from: arguments)
        var count = 0
        do throws(EideticError) {
            let reader = ArchiveReader(file: try openInput(path), memberSizeLimit: DecodeLimits.standard.encodedBytes)
            while let entry = try reader.next() {
                guard entry.metadata.kind == .original else { continue }
                try entry.checkImage(by: decodePolicy)
                let metadata = entry.downloadMetadata(maximumAge: cache.configuration.maximumAge)
                try cache.blocking.insert(entry.bytes, for: entry.key, metadata: metadata)
                count += 1
            }
        } catch {
            throw EideticError(error.code, message: "\(path): \(error.message), after \(count) entries")
        }
        TextStream.output.writeLine("\(counted(count)) imported")
        return .success
    }

    /// The numbers of entries in an archive, and of private entries that are not.
    private struct Counts {
        var written = 0
        var omitted = 0
    }

    /// Returns text such as "1 entry" or "2 private entries".
    private static func counted(_ count: Int, kind: String = "") -> String {
        "\(count) \(kind)\(count == 1 ? "entry" : "entries")"
    }

    /// Writes entries to a temporary file, which is then renamed.
    private static func writeArchive(
        of cache: DiskCache,
        to path: String,
        includesPrivate: Bool
    ) throws(EideticError) -> Counts {
        let files = FileSystem()
        let temporary = path == "-" ? nil : "\(path).\(getpid()).tmp"
        do throws(SystemError) {
            let output: FileDescriptor
            if let temporary {
                output = try files.open(temporary, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            } else {
                output = FileDescriptor(adopting: try duplicate(STDOUT_FILENO))
            }
            let counts = try writeEntries(of: cache, to: output, includesPrivate: includesPrivate)
            if let temporary { try files.rename(temporary, to: path) }
            return counts
        } catch {
            if let temporary { try? files.unlink(temporary) }
            throw FileContents.error(for: error)
        }
    }

    private static func writeEntries(
        of cache: DiskCache,
        to file: consuming FileDescriptor,
        includesPrivate: Bool
    ) throws(SystemError) -> Counts {
        var writer = ArchiveWriter(file: file)
        var counts = Counts()
        let entries = (try? cache.blocking.entries()) ?? []
        for info in entries.sorted(by: { $0.key < $1.key }) where !info.isExpired {
            if info.isOfPrivateRequest, !includesPrivate {
                counts.omitted += 1
                continue
            }
            // Entries that are damaged, or were removed meanwhile, are skipped.
            guard let entry = (try? cache.blocking.read(info.key)) ?? nil,
                entry.metadata.kind == .original
            else { continue }
            try writer.append(entry)
            counts.written += 1
        }
        try writer.finish()
        return counts
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
