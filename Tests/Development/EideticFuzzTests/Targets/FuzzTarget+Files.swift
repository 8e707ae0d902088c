import EideticCore
import EideticHTTP
import EideticSupervisor
import Glibc

@testable import EideticFetch
@testable import EideticStore
@testable import EideticTransferEngine

extension FuzzTarget {
    /// Files that other processes, or a power loss, may have changed.
    static let files = [
        FuzzTarget(name: "entry", maximumLength: 2_048, seeds: { [try entry()] }) { bytes in
            for bytes in [bytes, checked(bytes)] {
                guard let entry = try? EntryFile.decodeEntry(bytes, expecting: nil) else { continue }
                require(entry.bytes.count <= bytes.count, "the body is longer than the file")
                require((try? SharedEntry.decode(SharedEntry.encode(entry), expecting: entry.key)) != nil, "unreadable")
            }
            bytes.withUnsafeBytes { tail in
                let end = EntryFile.endOfLastFooter(in: tail, fileSize: tail.count)
                require(end ?? 0 <= tail.count, "a footer ends behind the file")
            }
        },
        FuzzTarget(name: "ledger", maximumLength: 2_048, seeds: { [ledger()] }, run: openCache),
        FuzzTarget(name: "partial-file", maximumLength: 1 << 17, seeds: { [try partialFile().bytes] }, run: resume),
        FuzzTarget(name: "bundle", seeds: { texts(["https://a.test/b.jpg?c", "..\u{0}/x"]) }) { bytes in
            let key = String(decoding: bytes, as: UTF8.self), bundle = ImageBundle(directory: Place.directory)
            for path in bundle.paths(for: key) {
                let name = path.dropFirst(Place.directory.utf8.count + 1)
                require(path.hasPrefix(Place.directory + "/") && !name.contains("/"), "\(path) is elsewhere")
            }
            require((try? bundle.read(key)) == .some(nil), "\(key.debugDescription): an error, or a file")
        },
        FuzzTarget(name: "desktop-entry", maximumLength: 8_192, seeds: { texts(desktopEntries) }) { bytes in
            guard let manifest = try? Manifest(parsing: bytes, identifier: "a", path: "/a.desktop") else { return }
            require(!manifest.name.isEmpty && manifest.schemes.allSatisfy { !$0.isEmpty }, "an empty name")
            let budget = manifest.backgroundBudget ?? .seconds(5)
            require(SupervisorConfiguration.budgetRange.contains(budget), "a budget of \(budget)")
            guard let program = manifest.programName else { return require(manifest.isBusActivatable, "no program") }
            require(program.hasPrefix("/") || !program.contains("/"), "\(program) is relative to a directory")
        },
        FuzzTarget(name: "journal", maximumLength: 2_048, seeds: { journals }) { bytes in
            guard let file = try? Place.file(with: bytes) else { return }
            var reader = JournalReader(fileSystem: FileSystem(), size: UInt64(bytes.count))
            guard let end = try? reader.readAll(from: file, apply: { _, _ in }) else { return }
            require(end <= UInt64(bytes.count), "records end behind the file")
            require(reader.damages.allSatisfy { $0.upperBound <= end }, "damage behind the last record")
        },
    ]

    /// A journal with two records, and one whose first is damaged.
    private static var journals: [[UInt8]] {
        let records = ["a", "b"].map { Journal.encode(.boot($0), secret: [1, 2]) }
        let whole = Journal.magic + records[0] + records[1]
        var damaged = whole
        damaged[Journal.magic.count] ^= 0xff
        return [Journal.magic, whole, damaged]
    }

    private static let desktopEntries = [
        """
        # A comment
        [Desktop Entry]
        Type=Application
        Name=Mail
        Name[de]=Post
        Exec=mail --name %c "a \\\\"b" %U %%
        Icon=mail
        MimeType=x-scheme-handler/mailto;text/plain;
        DBusActivatable=true
        X-Eidetic-BackgroundModes=fetch;remote-notification;
        X-Eidetic-BackgroundBudget=600
        X-Eidetic-ExitsOnSuspend=false

        [Desktop Action new]
        Name=New
        """
    ]

    private static func entry() throws -> [UInt8] {
        var metadata = DiskCache.Metadata()
        metadata.headers = [HTTPField(name: "ETag", value: "\"a\"")]
        metadata.response.requestTime = Timestamp(nanoseconds: 1)
        metadata.response.selectingDigest = "digest"
        metadata.extendedData = [1, 2, 3]
        return SharedEntry.encode(DiskCache.Entry(key: "https://a.test/b", bytes: [1, 2, 3, 4], metadata: metadata))
    }

    /// Returns a file whose footer has the right checksum, which no mutation would find.
    private static func checked(_ bytes: [UInt8]) -> [UInt8] {
        let trailer = bytes.count - EntryFile.trailerSize
        guard trailer >= 0 else { return bytes }
        return bytes.withUnsafeBytes { file in
            guard let size = try? EntryFile.footerSize(trailer: file, fileSize: file.count) else { return bytes }
            var changed = bytes
            let body = file.count - size - Int(file.number(UInt32.self, at: trailer + 44))
            let bodyChecksum = Checksum.value(of: UnsafeRawBufferPointer(rebasing: file[..<body]))
            changed.withUnsafeMutableBytes { changed in
                changed.storeBytes(of: bodyChecksum.littleEndian, toByteOffset: file.count - 16, as: UInt64.self)
                let footer = UnsafeRawBufferPointer(rebasing: changed[(file.count - size)..<(file.count - 8)])
                let checksum = Checksum.value(of: footer)
                changed.storeBytes(of: checksum.littleEndian, toByteOffset: file.count - 8, as: UInt64.self)
            }
            return changed
        }
    }

    private static func ledger() -> [UInt8] {
        var bytes = LedgerHeader(salt: 1, bootIdentifier: 2).bytes
        for event in [LedgerRecord.Event.reserve, .put, .remove] {
            var entry = IndexEntry(key: CacheKey(high: 3, low: 4), size: 5_000)
            entry.accessCount = 1
            LedgerRecord(event, writer: 6, entry: entry).append(to: &bytes, salt: 1)
        }
        return bytes
    }

    /// Opens a cache whose ledger has these bytes, with the right checksums, and uses it.
    private static let openCache: @Sendable ([UInt8]) -> Void = { bytes in
        var records = bytes
        records.withUnsafeMutableBytes { records in
            for start in stride(from: 0, through: records.count - LedgerRecord.size, by: LedgerRecord.size) {
                let record = UnsafeRawBufferPointer(rebasing: records[start..<start + 56])
                let checksum = Checksum.value(of: record)
                records.storeBytes(of: checksum.littleEndian, toByteOffset: start + 56, as: UInt64.self)
            }
        }
        let directory = Place.directory + "/cache", files = FileSystem()
        try? files.makeDirectories(directory)
        try? Place.write(records, to: directory + "/ledger")
        var configuration = DiskCache.Configuration(directory: directory)
        configuration.sizeLimit = .mebibytes(1)
        guard let cache = try? DiskCache(configuration) else { return }
        _ = try? cache.blocking.insert([1, 2, 3], for: "k")
        require((try? cache.blocking.read("k"))??.bytes ?? [1, 2, 3] == [1, 2, 3], "another entry was read")
        _ = try? cache.scan.verify()
        try? cache.blocking.removeAll()
    }

    /// The file of a partial body as it is written, and its path.
    private static func partialFile() throws -> (path: String, bytes: [UInt8]) {
        let headers: HTTPHeaders = ["ETag": "\"a\"", "Content-Length": "131072"]
        let body = PartialBody(bytes: Array(repeating: 7, count: 65_536), headers: headers, target: 1, exactTarget: 1)
        guard let body, let store = partialBodies else {
            throw SystemError(.open, errorNumber: EINVAL, path: "partial")
        }
        try store.insert(body, for: partialRequest())
        let files = FileSystem()
        let name = try files.entryNames(in: store.directory).first { $0.hasSuffix(".partial") } ?? ""
        let path = "\(store.directory)/\(name)"
        return (path, try files.contents(of: path))
    }

    private static let partialPath = try? partialFile().path

    private static func partialRequest() throws -> FetchRequest { try FetchRequest(url: "https://a.test/") }

    private static let partialBodies: PartialBodyStore? = {
        var configuration = Downloader.Configuration()
        configuration.partialDirectory = Place.directory + "/partial"
        return PartialBodyStore(configuration)
    }()

    private static let resume: @Sendable ([UInt8]) -> Void = { bytes in
        guard let request = try? partialRequest(), let store = partialBodies, let path = partialPath,
            (try? Place.write(bytes, to: path)) != nil, let body = store.remove(for: request)
        else { return }
        require(body.bytes.count < bytes.count, "\(body.bytes.count) of \(bytes.count) bytes")
        require(!body.rangeHeaders.isEmpty, "no range")
    }
}

/// A directory in memory for the files of one process.
enum Place {
    static let directory: String = {
        let path = "/dev/shm/eidetic-fuzz-\(getpid())"
        try? FileSystem().makeDirectories(path)
        return path
    }()

    static func write(_ bytes: [UInt8], to path: String) throws(SystemError) {
        let file = try FileSystem().open(path, flags: O_WRONLY | O_CREAT | O_TRUNC)
        try bytes.span.withUnsafeBytes { bytes throws(SystemError) in try FileSystem().write(bytes, to: file) }
    }

    /// Returns an open file with these bytes.
    static func file(with bytes: [UInt8]) throws(SystemError) -> FileDescriptor {
        try write(bytes, to: directory + "/file")
        return try FileSystem().open(directory + "/file", flags: O_RDONLY)
    }
}
