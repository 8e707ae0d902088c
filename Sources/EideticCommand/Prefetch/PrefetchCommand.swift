import Eidetic
import EideticCore
import EideticStore

/// `eidetic prefetch`: brings pictures into the cache before they are needed.
enum PrefetchCommand {
    static let diskOnly = Option(
        name: "disk-only",
        help: "look at the heads of the pictures alone, and do not decode them"
    )

    static let command: Command = .init(
        name: "prefetch",
        summary: "bring pictures into the cache before they are needed",
        operands: Operands(
            synopsis: "URL… | @FILE | -",
            help: "URLs; files of URLs, one a line; - for a list on the standard input",
            count: 1...Int.max,
            completion: .files
        ),
        options: [
            diskOnly, CommonOptions.cacheDirectory.option, LoadCommand.concurrency.option, LoadCommand.explain,
            LoadCommand.option.option, CommonOptions.json,
        ],
        notes: [
            "What the cache has already is not asked for again. Each picture is decoded once, so that only pictures are "
                + "kept; with --disk-only its head has to do.",
            "Ctrl-C begins no further picture, leaves those under way and says what was done.",
            "The exit status is 0 where all pictures are in the cache, 1 where some are not, 2 for a wrong command "
                + "line, 130 after Ctrl-C.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments) -> ExitStatus {
        let list = URLList(arguments.operands)
        for problem in list.problems { Diagnostics.report(problem) }
        let status = BatchPrefetcher(arguments, urls: list.urls).run()
        return status == .success && !list.problems.isEmpty ? .failure : status
    }
}
