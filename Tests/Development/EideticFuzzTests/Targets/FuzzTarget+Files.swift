import EideticCore
import EideticHTTP
import EideticSupervision
import EideticSupervisor
import Glibc

@testable import EideticFetch
@testable import EideticStore
@testable import EideticTransferEngine

extension FuzzTarget {
    /// Files that other processes, or a power loss, may have changed.
    static let files = [
        FuzzTarget(name: "entry", maximumLength: 2_048, seeds: { try entries() }) { bytes in
            for bytes in [bytes, checked(bytes)] {
                for key in [entryKey, "another"] { read(bytes, expecting: key) }
                guard let entry = try? EntryFile.decodeEntry(bytes, expecting: nil) else { continue }
                _ = (entry.metadata.storedResponse, entry.metadata.response.limit)
                let record = entry.metadata.response
                require(record.keepingEntry(of: record) == record, "\(record) is not kept")
                require(entry.bytes.count <= bytes.count, "the body is longer than the file")
                require((try? SharedEntry.decode(SharedEntry.encode(entry), expecting: entry.key)) != nil, "unreadable")
            }
            bytes.withUnsafeBytes { tail in
                let end = EntryFile.endOfLastFooter(in: tail, fileSize: tail.count)
                require(end ?? 0 <= tail.count, "a footer ends behind the file")
            }
        },
        FuzzTarget(
            name: "ledger",
            maximumLength: 2_048,
            seeds: { [ledger(), Array(ledger().prefix(100)), []] },
            run: openCache
        ),
        FuzzTarget(name: "partial-file", maximumLength: 1 << 14, seeds: partialFiles) { bytes in
            for bytes in [bytes, sealed(bytes)] { resume(bytes) }
        },
        FuzzTarget(
            name: "bundle",
            seeds: {
                texts([
                    "https://a.test/b.jpg?c", "..\u{0}/x", "", "a b/c.png", "https://a.test/.png",
                    "a." + String(repeating: "x", count: 250),
                ])
            }
        ) { bytes in
            let key = String(decoding: bytes, as: UTF8.self), bundle = ImageBundle(directory: Place.directory)
            for path in bundle.paths(for: key) {
                let name = path.dropFirst(Place.directory.utf8.count + 1)
                require(path.hasPrefix(Place.directory + "/") && !name.contains("/"), "\(path) is elsewhere")
            }
            require((try? bundle.read(key)) == .some(nil), "\(key.debugDescription): an error, or a file")
            guard let path = bundle.paths(for: key).last, (try? Place.write([1, 2, 3], to: path)) != nil else { return }
            require((try? bundle.read(key)) == .some([1, 2, 3]), "\(key.debugDescription): other bytes")
            require((try? bundle.path(for: key, using: FileSystem())) == .some(path), "\(path) is not found")
            try? FileSystem().unlink(path)
        },
        FuzzTarget(name: "desktop-entry", maximumLength: 1 << 15, seeds: { texts(desktopEntries) }) { bytes in
            guard let manifest = try? Manifest(parsing: bytes, identifier: "a", path: "/a.desktop") else { return }
            require(!manifest.name.isEmpty && manifest.schemes.allSatisfy { !$0.isEmpty }, "an empty name")
            let budget = manifest.backgroundBudget ?? .seconds(5)
            require(SupervisorConfiguration.budgetRange.contains(budget), "a budget of \(budget)")
            require(manifest.program?.executable.hasPrefix("/") ?? true, "the program has no path")
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

    /// Journals with two records, with a damaged one before and behind others, and with erased ones.
    private static var journals: [[UInt8]] {
        let records = ["a", "b", "c"].map { Journal.encode(.boot($0), secret: [1, 2]) }
        let whole = Journal.magic + records.joined()
        let mark = JournalReader.invalidMark
        let changes: [(place: Int, value: UInt8)] = [
            (0, 0xff), (8, 0xff), (3, mark), (0, 0), (4, 0xff), (records[0].count + 8, 0xff),
            (records[0].count + 3, mark),
        ]
        let damaged = changes.map { change in
            var bytes = whole
            bytes[Journal.magic.count + change.place] = change.value
            return bytes
        }
        var erased = damaged[2]
        let first = Journal.magic.count + Journal.headSize
        for index in first..<Journal.magic.count + records[0].count { erased[index] = 0 }
        return [Journal.magic, whole, erased, [0] + whole.dropFirst(), Array(whole.dropLast(3)), []] + damaged
    }

    private static let desktopEntries: [String] = {
        let head = "[Desktop Entry]\nType=Application\nName=A\n"
        let whole = """
            # A comment
            [Desktop Entry]
            Type=Application
            Name=Mail
            Name[de]=Post
            Exec=mail --name %c "a \\\\"b" %U %% %i %k%d
            Icon=mail
            Path=/tmp
            MimeType=x-scheme-handler/mailto;text/plain;x-scheme-handler/;
            DBusActivatable=true
            X-Eidetic-BackgroundModes=fetch;remote-notification;other\\;;
            X-Eidetic-BackgroundBudget=600
            X-Eidetic-ExitsOnSuspend=false

            [Desktop Action new]
            Name=New
            """
        let commands = [
            "", "a/b", "a=b", "%f", "\"%f\" a", "/bin/true", "/none", "a %f %u", "a %z", "a %", "a b%i", "a > b", "\"a",
            "\"a\"b",
            "\"a\\b\"", "\"a$b\"", "sh \\\\\\s\\n\\t\\r", "a \\x", String(repeating: "a ", count: 300),
        ]
        let lines = [
            "Path=a", "DBusActivatable=maybe", "X-Eidetic-BackgroundBudget=4", "Icon=a\\", "Name=B", "=a", "b", "[a",
            "[Desktop Entry]",
            "\u{1}", "X-Eidetic-BackgroundModes=" + String(repeating: "a;", count: 300),
            String(repeating: "a", count: 17_000),
            (0..<1_100).map { "K\($0)=" }.joined(separator: "\n"),
        ]
        let starts = [
            "Name=A", "[Other]\nName=A", "", "[Desktop Entry]\nType=Link", "[Desktop Entry]\nType=Application\nName=",
            head,
        ]
        return [whole, whole.replacing("\n", with: "\r\n"), head + "DBusActivatable=true\n"] + starts
            + commands.map { "\(head)Exec=\($0)\n" } + lines.map { "\(head)\($0)\nExec=a\n" }
    }()

    private static let entryKey = "https://a.test/b"

    /// Reads the entry of a key; an error describes itself.
    private static func read(_ bytes: [UInt8], expecting key: String) {
        do throws(EntryFile.FormatError) {
            _ = try EntryFile.decodeEntry(bytes, expecting: key)
        } catch {
            require(!error.description.isEmpty, "an error without a description")
        }
    }

    /// Files with all metadata, with none and with header fields only, and each of them damaged in several places.
    private static func entries() throws -> [[UInt8]] {
        var all = DiskCache.Metadata(), fields = DiskCache.Metadata()
        all.headers = [HTTPField(name: "ETag", value: "\"a\"")]
        fields.headers = all.headers
        all.response.requestTime = Timestamp(nanoseconds: 1)
        all.response.responseTime = Timestamp(nanoseconds: 2)
        all.response.redirectLifetime = .seconds(3)
        all.response.replacementTime = Timestamp(nanoseconds: 4)
        all.response.mustRevalidateRedirects = true
        all.response.dependsOnHooks = true
        all.response.selectingDigest = "digest"
        all.response.placeholder = "placeholder"
        all.expirationTime = Timestamp(nanoseconds: 5)
        all.extendedData = [1, 2, 3]
        let files = [all, DiskCache.Metadata(), fields].map { metadata in
            SharedEntry.encode(DiskCache.Entry(key: entryKey, bytes: [1, 2, 3, 4], metadata: metadata))
        }
        // The body, version, signature, lengths of body and key, kind, first field, flags.
        let places = [0, -57, -64, -56, -48, -24, 4 + entryKey.utf8.count, 4 + entryKey.utf8.count + 4 + 8 + 7]
        return files
            + files.flatMap { file in
                places.map { place in
                    var file = file
                    let index = place < 0 ? file.count + place : min(place, file.count - 1)
                    file[index] ^= 0xff
                    return file
                }
            } + [Array(files[0].prefix(60)), files[0] + files[1], Array(files[0].dropLast())]
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
        let events: [LedgerRecord.Event] = [
            .reserve, .put, .remove, .finishRemovals, .reserve, .abandon, .put, .touch, .evict, .put,
        ]
        for (number, event) in events.enumerated() {
            var entry = IndexEntry(key: CacheKey(high: 3, low: number < 6 ? 4 : 5), size: 5_000)
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

    private static let partialURL = "https://a.test/"

    private static func partialRequest() throws -> FetchRequest { try FetchRequest(url: partialURL) }

    private static let partialBodies: PartialBodyStore? = {
        var configuration = Downloader.Configuration()
        configuration.partialDirectory = Place.directory + "/partial"
        return PartialBodyStore(configuration)
    }()

    /// Stores the partial body of a response with some header fields, and returns its file and the path.
    private static func partialFile(_ headers: HTTPHeaders) throws -> (path: String, bytes: [UInt8]) {
        let body = PartialBody(
            bytes: Array(repeating: 7, count: 64),
            headers: headers,
            target: PartialBody.target(of: partialURL),
            exactTarget: PartialBody.exactTarget(of: partialURL)
        )
        guard let body, let store = partialBodies else {
            throw SystemError(.open, errorNumber: EINVAL, path: "partial")
        }
        try store.insert(body, for: partialRequest())
        let files = FileSystem()
        let name = try files.entryNames(in: store.directory).first { $0.hasSuffix(".partial") } ?? ""
        let path = "\(store.directory)/\(name)"
        return (path, try files.contents(of: path))
    }

    private static let partialPath = try? partialFile(["ETag": "\"a\""]).path

    /// Files of bodies with a tag, a date and a known length, and files that are damaged in several places.
    private static func partialFiles() throws -> [[UInt8]] {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let dates: HTTPHeaders = ["Last-Modified": date, "Date": "Sun, 06 Nov 1994 10:49:37 GMT"]
        let whole = try [["ETag": "\"a\"", "Content-Length": "128"], ["ETag": "\"a\""], dates].map {
            try partialFile($0).bytes
        }
        let text = String(decoding: whole[0], as: UTF8.self)
        let changes = [
            ("ETag: \"a\"", "ETag"), ("ETag: \"a\"", "ETag: W/\"a\""), ("Content-Length: 128", "Content-Length: 64"),
            ("\n\n", "\n-\n"), ("partial 2", "partial 1"), ("ETag", "Accept-Ranges: none\nETag"),
        ]
        return whole + changes.map { Array(text.replacing($0, with: $1, maxReplacements: 1).utf8) }
    }

    /// Returns a file with the right checksum, which no mutation would find.
    private static func sealed(_ bytes: [UInt8]) -> [UInt8] {
        let parts = bytes.split(separator: 10, maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4 else { return bytes }
        let checksum = parts[3].withUnsafeBytes { Checksum.value(of: $0) }
        return Array(parts[0]) + [10] + Array(parts[1]) + Array("\n\(checksum)\n".utf8) + Array(parts[3])
    }

    private static let resume: @Sendable ([UInt8]) -> Void = { bytes in
        guard let request = try? partialRequest(), let store = partialBodies, let path = partialPath,
            (try? Place.write(bytes, to: path)) != nil, let body = store.remove(for: request)
        else { return }
        require(body.bytes.count < bytes.count, "\(body.bytes.count) of \(bytes.count) bytes")
        require(!body.rangeHeaders.isEmpty, "no range")
        complete(body)
        guard (try? store.insert(body, for: request)) != nil, let again = store.remove(for: request) else { return }
        require(again.bytes == body.bytes && again.headers == body.headers, "\(body.headers) became \(again.headers)")
    }

    /// Compares the responses that a server may send for the rest of a body with the body.
    private static func complete(_ body: PartialBody) {
        var head = ResponseHead()
        head.status = 206
        head.headers = body.headers
        let count = body.bytes.count
        let total = body.totalLength ?? count + 1
        for range in ["bytes \(count)-\(total - 1)/\(total)", "bytes \(count)-\(total - 1)/*", "bytes 0-0/1", "a"] {
            head.headers["Content-Range"] = range
            let length = body.resumedLength(from: head, url: partialURL)
            require(length ?? .max > count, "\(count) bytes are resumed to \(length ?? 0)")
            let whole = body.completed(head)
            require(whole.status == 200 && whole.headers["Content-Range"] == nil, "\(whole) is a part")
            var outcome = ExchangeOutcome()
            (outcome.head, outcome.body) = (head, body.bytes)
            _ = PartialBody(outcome: outcome, url: partialURL, resuming: body)
        }
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
