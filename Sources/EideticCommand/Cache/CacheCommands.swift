import EideticCore
import EideticStore

/// `eidetic cache …`: looks after the disk cache.
enum CacheCommands {
    static let command = Command(
        name: "cache",
        summary: "look after the cache on disk",
        notes: [
            "A picture's key is its URL. Several programs may use the cache meanwhile.",
            "The exit status is 0 where all was done, 1 where something was not found, damaged or failed, 2 for a "
                + "wrong command line.",
        ],
        subcommands: [info, list, get, put, remove, clean, clear, verify, export, `import`]
    )

    /// The operand of commands on entries.
    static let keyOperands = Operands(
        synopsis: "KEY…",
        help: "the keys: URLs",
        count: 1...Int.max,
        completion: .nothing
    )

    /// A command on a cache that reports what goes wrong.
    static func makeCommand(
        _ name: String,
        summary: String,
        operands: Operands = .none,
        options: [Option] = [],
        notes: [String] = [],
        run: @escaping @Sendable (DiskCache, Arguments) throws(EideticError) -> ExitStatus
    ) -> Command {
        Command(
            name: name,
            summary: summary,
            operands: operands,
            options: [CommonOptions.cacheDirectory.option] + options,
            notes: notes,
            run: { arguments in
                do throws(EideticError) {
                    return try run(try DiskCache(CacheLocation.configuration(from: arguments)), arguments)
                } catch {
                    Diagnostics.report(error.message)
                    return .failure
                }
            }
        )
    }
}
