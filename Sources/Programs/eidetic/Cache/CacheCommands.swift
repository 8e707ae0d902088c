import EideticCLI
import EideticCore
import EideticStore

/// The commands `eidetic cache …`, which manage the disk cache.
enum CacheCommands {
    static let command = Command(
        name: "cache",
        summary: "manage the disk cache",
        notes: ["The key of an image is its URL. Other programs can use the cache at the same time."],
        subcommands: [info, list, get, put, remove, clean, clear, verify]
    )

    static let keyOperands = Operands(synopsis: "KEY…", help: "the keys (URLs)")

    /// Creates a command that opens the cache and reports errors; with `--shared` it uses the shared tier instead, if
    /// it has a function for that.
    static func makeCommand(
        _ name: String,
        summary: String,
        operands: Operands = .none,
        options: [Option] = [],
        notes: [String] = [],
        isQuery: Bool = true,
        shared: SharedCacheCommands.Body? = nil,
        run: @escaping @Sendable (DiskCache, Arguments) throws(EideticError) -> ExitStatus
    ) -> Command {
        Command(
            name: name,
            summary: summary,
            operands: operands,
            options: CommonOptions.cacheOptions + (shared == nil ? [] : [SharedOption.url.definition]) + options,
            notes: notes,
            run: { arguments in
                do throws(EideticError) {
                    if let shared, arguments[SharedOption.url] != nil {
                        return try SharedCacheCommands.run(shared, with: arguments)
                    }
                    let cache = try CacheLocation.open(from: arguments, isQuery: isQuery)
                    return try run(cache, arguments)
                } catch {
                    Diagnostics.report(error)
                    return .failure
                }
            }
        )
    }
}
