import EideticCodecs
import EideticCore
import EideticStore

extension CacheCommands {
    /// Where `get` writes.
    static let outputFile = TypedOption<String>("out", "FILE", help: "write to this file", completion: .files)

    static let get = makeCommand(
        "get",
        summary: "write an entry's bytes to the standard output or a file",
        operands: Operands(synopsis: "KEY", help: "the key: a URL", count: 1...1, completion: .nothing),
        options: [outputFile.option]
    ) { cache, arguments throws(EideticError) in
        let key = arguments.operands[0]
        guard let entry = try cache.read(key) else {
            Diagnostics.report("\(key): not in the cache")
            return .failure
        }
        let file = arguments[outputFile] ?? "-"
        if file == "-", TextStream.output.isTerminal {
            Diagnostics.report("\(key): the bytes of a picture are not for a terminal; use --out FILE")
            return .failure
        }
        try FileContents.write(entry.bytes, to: file)
        return .success
    }

    static let put = makeCommand(
        "put",
        summary: "keep a file's bytes under a key",
        operands: Operands(
            synopsis: "KEY FILE",
            help: "the key, which is a URL, and a picture file; - is the standard input",
            count: 2...2,
            completion: .files
        ),
        notes: ["What is put by hand goes last when the cache is full."]
    ) { cache, arguments throws(EideticError) in
        let (key, file) = (arguments.operands[0], arguments.operands[1])
        do throws(EideticError) {
            let bytes = try FileContents.read(file, limit: DecodeLimits.standard.encodedBytes)
            _ = try ImageDecoder.header(of: bytes)
            var metadata = DiskCache.Metadata()
            metadata.importance = .user
            try cache.write(bytes, for: key, metadata: metadata)
        } catch {
            throw EideticError(error.code, message: "\(file): \(error.message)")
        }
        return .success
    }

    static let remove = makeCommand("remove", summary: "forget entries", operands: keyOperands) {
        cache,
        arguments throws(EideticError) in
        var status = ExitStatus.success
        for key in arguments.operands where !(try cache.remove(key)) {
            Diagnostics.report("\(key): not in the cache")
            status = .failure
        }
        return status
    }

    /// What `clean` leaves at most.
    static let sweepSize = TypedOption<ByteCount>(
        "size",
        "SIZE",
        expecting: "a size such as 20MB",
        help: "where more than this is left, remove the oldest until half of it is",
        read: { ByteCount(parsing: $0) }
    )

    static let clean = makeCommand(
        "clean",
        summary: "remove what is too old to be used",
        options: [sweepSize.option],
        notes: [
            "With --size the sweep of older caches is made, by the files' times. The cache keeps its own limits always."
        ]
    ) { cache, arguments throws(EideticError) in
        try reportFreedSpace(in: cache) { () throws(EideticError) in
            _ = try cache.removeExpired()
            if let size = arguments[sweepSize] { try cache.sweep(downTo: size) }
        }
    }

    static let clear = makeCommand("clear", summary: "remove all entries") { cache, _ throws(EideticError) in
        try reportFreedSpace(in: cache) { () throws(EideticError) in try cache.removeAll() }
    }

    private static func reportFreedSpace(
        in cache: DiskCache,
        during body: () throws(EideticError) -> Void
    ) throws(EideticError) -> ExitStatus {
        let before = cache.usage
        try body()
        let after = cache.usage
        let count = max(0, before.entryCount - after.entryCount)
        let freed = ByteCount(max(0, before.allocatedSize.bytes - after.allocatedSize.bytes))
        TextStream.output.writeLine("\(count == 1 ? "1 entry" : "\(count) entries") removed, \(freed) freed")
        return .success
    }
}
