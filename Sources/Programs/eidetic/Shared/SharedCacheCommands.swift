import EideticCLI
import EideticCore
import EideticStore

#if Redis
import EideticRedis
#endif

/// The commands `eidetic cache … --shared URL`, which manage the shared tier.
///
/// They read the names of all keys of the tier's namespace, so that their time grows with the number of entries.
enum SharedCacheCommands {
    #if Redis
    typealias Tier = RedisTier
    #else
    typealias Tier = any SharedTier
    #endif
    typealias Body = @Sendable (Tier, Arguments) async throws(EideticError) -> ExitStatus

    /// Runs a command; blocks until it has ended.
    static func run(_ body: @escaping Body, with arguments: Arguments) throws(EideticError) -> ExitStatus {
        guard let tier = try SharedOption.makeTier(from: arguments) else { return .failure }
        let result = Guarded<Result<ExitStatus, EideticError>>(.failure(.cancelled))
        TaskCanceller().runAndWait {
            let outcome: Result<ExitStatus, EideticError>
            do throws(EideticError) { outcome = .success(try await body(tier, arguments)) } catch {
                outcome = .failure(error)
            }
            result.withLock { $0 = outcome }
        }
        return try result.withLock { $0 }.get()
    }

    #if Redis
    static let info: Body = { tier, arguments throws(EideticError) in
        let contents = try await tier.contents()
        let size = contents.reduce(0) { $0 + $1.byteCount }
        if arguments.contains(CommonOptions.json) {
            TextStream.output.writeLine(
                JSON.object([("entries", .integer(contents.count)), ("bytes", .integer(size))]).text
            )
        } else {
            TextStream.output.writeLine("shared: \(counted(contents.count)), \(ByteCount(size))")
        }
        return .success
    }

    static let list: Body = { tier, arguments throws(EideticError) in
        let contents = try await tier.contents().sorted { $0.url < $1.url }
        for item in contents where TextStream.output.failure == nil {
            let asJSON = arguments.contains(CommonOptions.json)
            TextStream.output.writeLine(asJSON ? json(for: item).text : text(for: item))
        }
        return .success
    }

    static let verify: Body = { tier, arguments throws(EideticError) in
        let contents = try await tier.contents()
        let damaged = contents.filter { $0.damage != nil }
        if arguments.contains(CommonOptions.json) {
            let list: [JSON] = damaged.map { .object([("name", .string($0.name)), ("reason", .optional($0.damage))]) }
            let object: JSON = .object([("checked", .integer(contents.count)), ("damaged", .array(list))])
            TextStream.output.writeLine(object.text)
        } else {
            for item in damaged { Diagnostics.report("\(item.name): \(item.damage ?? "")") }
            TextStream.output.writeLine("\(contents.count) checked, \(damaged.count) damaged")
        }
        return damaged.isEmpty ? .success : .failure
    }

    static let get: Body = { tier, arguments throws(EideticError) in
        let key = arguments.operands[0]
        let item = try await tier.contents().first { $0.url == key }
        guard let item, let bytes = try await tier.bytes(of: item) else {
            Diagnostics.report("\(key): not in the shared tier")
            return .failure
        }
        return try CacheCommands.write(bytes, of: key, for: arguments)
    }

    static let remove: Body = { tier, arguments throws(EideticError) in
        let contents = try await tier.contents()
        var status = ExitStatus.success
        for key in arguments.operands {
            let found = contents.filter { $0.url == key }
            for item in found { try await tier.removeItem(item) }
            if found.isEmpty {
                Diagnostics.report("\(key): not in the shared tier")
                status = .failure
            }
        }
        return status
    }

    static let clear: Body = { tier, _ throws(EideticError) in
        TextStream.output.writeLine("\(counted(try await tier.removeAll())) removed")
        return .success
    }

    private static func counted(_ count: Int) -> String { count == 1 ? "1 entry" : "\(count) entries" }

    private static func json(for item: RedisTier.Item) -> JSON {
        .object([
            ("key", .redacted(item.url)), ("bytes", .integer(item.byteCount)),
            ("stored", .optional(item.metadata.map { TimeFormat.date(for: $0.storageTime) })),
            ("expires", .optional(item.metadata?.expirationTime.map(TimeFormat.date))),
            ("damaged", .optional(item.damage)),
        ])
    }

    private static func text(for item: RedisTier.Item) -> String {
        guard let metadata = item.metadata else { return "damaged: \(item.name): \(item.damage ?? "")" }
        return [
            TimeFormat.date(for: metadata.storageTime),
            Columns.right(ByteCount(item.byteCount).description, width: 9), TerminalText.abbreviated(item.url),
        ].joined(separator: "  ")
    }
    #else
    /// The body of all commands without Redis; ``run(_:with:)`` has thrown the reason before.
    private static let unavailable: Body = { _, _ throws(EideticError) in .failure }
    static let (info, list, verify) = (unavailable, unavailable, unavailable)
    static let (get, remove, clear) = (unavailable, unavailable, unavailable)
    #endif
}
