import Eidetic
import EideticCLI
import EideticCore

/// The command `eidetic prefetch`, which loads images into the cache in advance.
enum PrefetchCommand {
    static let diskOnly = Option(
        name: "disk-only",
        help: "check only the headers of the images, without decoding them"
    )

    static let command: Command = .init(
        name: "prefetch",
        summary: "load images into the cache in advance",
        operands: Operands(
            synopsis: "URL… | @FILE | -",
            help: "URLs; files with one URL per line; - for a list on standard input",
            completion: .files
        ),
        options: [
            diskOnly, CommonOptions.jobs.definition,
            CommonOptions.timeout.definition, LoadCommand.explain, LoadCommand.cachePolicy.definition,
            LoadCommand.imageOption.definition,
            LoadCommand.http, LoadCommand.maximumAge.definition, CommonOptions.quiet, CommonOptions.json,
        ] + SandboxOption.all + CommonOptions.cacheOptions + NetworkOptions.common,
        notes: [
            "Cached images are not requested again. Each image is decoded once, so that only valid images are stored; with "
                + "--disk-only, only its header is checked.",
            "Ctrl-C cancels the loads in progress, starts no others, and prints a summary.",
        ],
        commonOptions: ["disk-only", "jobs", "header", "retry", "wait-for-network", "cache-dir", "quiet", "json"],
        run: run
    )

    private static func run(_ arguments: Arguments) -> ExitStatus {
        let list = URLList(arguments.operands)
        for problem in list.problems { Diagnostics.report(problem) }
        do throws(EideticError) {
            let status = try PrefetchSession(arguments, urls: list.urls.map(URLList.completed)).run()
            return status == .success && !list.problems.isEmpty ? .failure : status
        } catch {
            Diagnostics.report(error)
            return .failure
        }
    }
}
