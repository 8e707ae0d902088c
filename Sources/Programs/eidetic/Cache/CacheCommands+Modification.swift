import Eidetic
import EideticCodecs
import EideticCLI
import EideticCore
import EideticStore

extension CacheCommands {
    /// The output file of `get`.
    static let outputFile = TypedOption<String>(
        "out",
        help: "write to this file"
    )

    static let get = makeCommand(
        "get",
        summary: "write an entry's bytes to standard output or a file",
        operands: Operands(
            synopsis: "KEY",
            help: "the key: a URL, or as \"cache list\" shows it",
            count: 1...1
        ),
        options: [outputFile.definition, CommonOptions.overwrite],
        shared: SharedCacheCommands.get
    ) { cache, arguments throws(EideticError) in
        let key = try key(named: arguments.operands[0], in: cache)
        guard let entry = try cache.blocking.read(key) else {
            Diagnostics.report("\(key): not in the cache")
            return .failure
        }
        return try write(entry.bytes, of: key, for: arguments)
    }

    /// Writes the bytes of an entry to the output file.
    static func write(
        _ bytes: [UInt8],
        of key: String,
        for arguments: Arguments
    ) throws(EideticError) -> ExitStatus {
        let file = arguments[outputFile] ?? "-"
        if file == "-", TextStream.output.isTerminal {
            Diagnostics.report("\(key): image data is not written to a terminal; use --out FILE")
            return .failure
        }
        try ConvertCommand.named(file) { () throws(EideticError) in
            try FileContents.write(bytes, to: file, overwrites: arguments.contains(CommonOptions.overwrite))
        }
        return .success
    }

    static let put = makeCommand(
        "put",
        summary: "store an image file under a key",
        operands: Operands(
            synopsis: "KEY FILE",
            help: "the key (a URL) and an image file; - is standard input",
            count: 2...2,
            completion: .files
        ),
        options: SandboxOption.all,
        notes: ["When the cache is full, these entries are evicted last."],
        isQuery: false
    ) { cache, arguments throws(EideticError) in
        let (key, file) = (arguments.operands[0], arguments.operands[1])
        do throws(EideticError) {
            let bytes = try FileContents.read(file, limit: DecodeLimits.standard.encodedBytes)
            _ = try SandboxOption.policy(from: arguments).header(of: bytes)
            var metadata = DiskCache.Metadata()
            metadata.importance = .user
            try cache.blocking.insert(bytes, for: key, metadata: metadata)
        } catch {
            throw EideticError(error.code, message: "\(file): \(error.message)")
        }
        return .success
    }

    static let remove = makeCommand(
        "remove",
        summary: "remove entries",
        operands: keyOperands,
        isQuery: false,
        shared: SharedCacheCommands.remove
    ) { cache, arguments throws(EideticError) in
        var status = ExitStatus.success
        for name in arguments.operands where try cache.blocking.remove(try key(named: name, in: cache)) == nil {
            Diagnostics.report("\(name): not in the cache")
            status = .failure
        }
        return status
    }

    /// The size that `clean` leaves at most.
    static let sweepSize = TypedOption<ByteCount>(
        "size",
        placeholder: "SIZE",
        expecting: "a size such as 20MB",
        help: "if more than this remains, remove the oldest entries until half of it remains",
        parse: { ByteCount(parsing: $0) }
    )

    static let clean = makeCommand(
        "clean",
        summary: "remove expired entries",
        options: [sweepSize.definition],
        notes: [
            "With --size, entries are also removed by the age of their files. The cache's own limits always apply."
        ],
        isQuery: false
    ) { cache, arguments throws(EideticError) in
        try reportFreedSpace(in: cache) { () throws(EideticError) in
            _ = try cache.blocking.removeExpired()
            if let size = arguments[sweepSize] { try cache.blocking.sweep(downTo: size) }
        }
    }

    static let clear = makeCommand(
        "clear",
        summary: "remove all entries",
        isQuery: false,
        shared: SharedCacheCommands.clear
    ) { cache, _ throws(EideticError) in
        try reportFreedSpace(in: cache) { () throws(EideticError) in try cache.blocking.removeAll() }
    }

    private static func reportFreedSpace(
        in cache: DiskCache,
        during body: () throws(EideticError) -> Void
    ) throws(EideticError) -> ExitStatus {
        let before = cache.blocking.usage
        try body()
        let after = cache.blocking.usage
        let count = max(0, before.entryCount - after.entryCount)
        let freed = ByteCount(max(0, before.allocatedSize.bytes - after.allocatedSize.bytes))
        TextStream.output.writeLine("\(count == 1 ? "1 entry" : "\(count) entries") removed, \(freed) freed")
        return .success
    }
}
