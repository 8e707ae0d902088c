import EideticCLI
import EideticCore
import EideticStore

extension CacheCommands {
    static let info = makeCommand(
        "info",
        summary: "show the size of the cache",
        options: [CommonOptions.json],
        shared: SharedCacheCommands.info
    ) { cache, arguments throws(EideticError) in
        let usage = cache.blocking.usage
        let directory = cache.configuration.directory
        if arguments.contains(CommonOptions.json) {
            let object: JSON = .object([
                ("directory", .string(directory)),
                ("entries", .integer(usage.entryCount)),
                ("bytes", .integer(usage.logicalSize.bytes)),
                ("allocated", .integer(usage.allocatedSize.bytes)),
            ])
            TextStream.output.writeLine(object.text)
        } else {
            let entries = usage.entryCount == 1 ? "1 entry" : "\(usage.entryCount) entries"
            TextStream.output.writeLine(
                "\(TerminalText.sanitized(directory)): \(entries), \(usage.logicalSize) (\(usage.allocatedSize) on disk)"
            )
        }
        return .success
    }

    static let list = makeCommand(
        "list",
        summary: "list the entries, oldest first",
        options: [CommonOptions.json],
        shared: SharedCacheCommands.list
    ) { cache, arguments throws(EideticError) in
        let entries = try cache.blocking.entries().sorted {
            ($0.metadata.storageTime, $0.key) < ($1.metadata.storageTime, $1.key)
        }
        for entry in entries where TextStream.output.failure == nil {
            let asJSON = arguments.contains(CommonOptions.json)
            TextStream.output.writeLine(asJSON ? json(for: entry).text : text(for: entry))
        }
        return .success
    }

    static let verify = makeCommand(
        "verify",
        summary: "compare every entry with its checksums, without changing anything",
        options: [CommonOptions.json],
        shared: SharedCacheCommands.verify
    ) { cache, arguments throws(EideticError) in
        let result = try cache.scan.verify()
        if arguments.contains(CommonOptions.json) {
            let damaged: [JSON] = result.damaged.map { damage in
                .object([("file", .string(damage.path)), ("reason", .redacted(damage.reason))])
            }
            let object: JSON = .object([("checked", .integer(result.checked)), ("damaged", .array(damaged))])
            TextStream.output.writeLine(object.text)
        } else {
            for damage in result.damaged { Diagnostics.report("\(damage.path): \(damage.reason)") }
            TextStream.output.writeLine("\(result.checked) checked, \(result.damaged.count) damaged")
        }
        return result.damaged.isEmpty ? .success : .failure
    }

    /// Returns a key as `list` shows it: that of a changed image, or of one with header fields, has several lines.
    static func shownKey(_ key: String) -> String {
        key.split(separator: "\n", omittingEmptySubsequences: false).map { $0.trimmingWhitespace }.joined(
            separator: " "
        )
    }

    /// Returns the key that an operand names: as it is stored, as `list` shows it, or a URL without its scheme.
    static func key(named text: String, in cache: DiskCache) throws(EideticError) -> String {
        if try cache.blocking.contains(text) { return text }
        // No URL has a space.
        guard text.contains(" ") else { return URLList.completed(text) }
        return try cache.blocking.entries().first { shownKey($0.key) == text }?.key ?? text
    }

    private static func json(for entry: DiskCache.EntryInfo) -> JSON {
        .object([
            ("key", .redacted(entry.key)),
            ("file", .string(entry.path)),
            ("bytes", .integer(entry.size.bytes)),
            ("allocated", .integer(entry.allocatedSize.bytes)),
            ("stored", .string(TimeFormat.date(for: entry.metadata.storageTime))),
            ("expires", .optional(entry.metadata.expirationTime.map(TimeFormat.date))),
            ("expired", .bool(entry.isExpired)),
            ("part", .bool(EntryKey.isPart(entry.key))),
        ])
    }

    private static func text(for entry: DiskCache.EntryInfo) -> String {
        let columns = [
            TimeFormat.date(for: entry.metadata.storageTime), Columns.right(entry.size.description, width: 9),
            shownKey(entry.key.withoutPasswords).printable + (entry.isExpired ? "  (expired)" : "")
                + (EntryKey.isPart(entry.key) ? "  (the beginning of a download that was interrupted)" : ""),
        ]
        return columns.joined(separator: "  ")
    }
}
