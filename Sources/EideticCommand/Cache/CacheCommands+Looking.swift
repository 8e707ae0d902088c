import EideticCore
import EideticStore

extension CacheCommands {
    static let info = make(
        "info",
        "say how much the cache holds",
        options: [CommonSettings.json]
    ) { cache, arguments throws(EideticError) in
        let usage = cache.usage
        let directory = cache.configuration.directory
        if arguments.contains(CommonSettings.json) {
            let object: JSON = .object([
                ("directory", .string(directory)),
                ("entries", .integer(usage.entries)),
                ("bytes", .integer(usage.logical.bytes)),
                ("allocated", .integer(usage.allocated.bytes)),
            ])
            TextStream.output.line(object.text)
        } else {
            let entries = usage.entries == 1 ? "1 entry" : "\(usage.entries) entries"
            TextStream.output.line(
                "\(Printable.text(directory)): \(entries), \(usage.logical) (\(usage.allocated) on disk)"
            )
        }
        return .success
    }

    static let list = make(
        "list",
        "list the entries, oldest first",
        options: [CommonSettings.json]
    ) { cache, arguments throws(EideticError) in
        let entries = try cache.entries().sorted { ($0.metadata.stored, $0.key) < ($1.metadata.stored, $1.key) }
        for entry in entries where TextStream.output.failure == nil {
            let asJSON = arguments.contains(CommonSettings.json)
            TextStream.output.line(asJSON ? json(entry).text : text(entry))
        }
        return .success
    }

    static let verify = make(
        "verify",
        "read every entry and compare it with its checksums; nothing is changed",
        options: [CommonSettings.json]
    ) { cache, arguments throws(EideticError) in
        let result = try cache.verify()
        if arguments.contains(CommonSettings.json) {
            let damaged: [JSON] = result.damaged.map { damage in
                .object([("file", .string(damage.file)), ("reason", .string(damage.reason))])
            }
            let object: JSON = .object([("checked", .integer(result.checked)), ("damaged", .array(damaged))])
            TextStream.output.line(object.text)
        } else {
            for damage in result.damaged { Report.problem("\(damage.file): \(damage.reason)") }
            TextStream.output.line("\(result.checked) checked, \(result.damaged.count) damaged")
        }
        return result.damaged.isEmpty ? .success : .failure
    }

    private static func json(_ entry: DiskCache.EntryInfo) -> JSON {
        .object([
            ("key", .string(entry.key)),
            ("file", .string(entry.file)),
            ("bytes", .integer(entry.size.bytes)),
            ("allocated", .integer(entry.allocated.bytes)),
            ("stored", .string(Moments.date(entry.metadata.stored))),
            ("expires", .optional(entry.metadata.expires.map(Moments.date))),
            ("expired", .bool(entry.isExpired)),
        ])
    }

    private static func text(_ entry: DiskCache.EntryInfo) -> String {
        let columns = [
            Moments.date(entry.metadata.stored), Columns.right(entry.size.description, 9),
            Printable.text(entry.key) + (entry.isExpired ? "  (expired)" : ""),
        ]
        return columns.joined(separator: "  ")
    }
}
