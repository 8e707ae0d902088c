import Eidetic

/// `eidetic load`: brings pictures from memory, disk or the network.
enum LoadCommand {
    static let outputDirectory = TypedOption<String>(
        "out",
        "DIR",
        help: "write the pictures into this directory: as they came, or encoded again with --size",
        completion: .directories
    )

    static let contactSheet = TypedOption<String>(
        "contact-sheet",
        "FILE",
        help: "write one picture of all pictures, such as sheet.png",
        completion: .files
    )

    static let concurrency = TypedOption<Int>(
        "concurrency",
        "N",
        expecting: "a number from 1 to 64",
        help: "download so many at once (6 where not given)",
        read: { text in Int(text).flatMap { (1...64).contains($0) ? $0 : nil } }
    )

    static let show = TypedOption<TerminalGraphics>(
        "show",
        "HOW",
        expecting: "kitty, sixel or blocks",
        help: "show the pictures on the terminal: by the best of kitty, sixel and blocks that it understands",
        completion: .words(TerminalGraphics.allCases.map(\.rawValue)),
        isOptional: true,
        read: { TerminalGraphics(rawValue: $0) }
    )

    static let command: Command = .init(
        name: "load",
        summary: "load pictures by URL, and remember them",
        operands: Operands(
            synopsis: "URL… | @FILE | -",
            help: "URLs (http, https, file, data); files of URLs, one a line; - for a list on the standard input",
            count: 1...Int.max,
            completion: .files
        ),
        options: [
            CommonOptions.size.option, out.option, sheet.option, CommonOptions.cacheDirectory.option,
            concurrency.option, show.option, progressive, explain, option.option, CommonOptions.json,
        ] + NetworkOptions.options,
        notes: [
            "Each picture comes from memory, from the cache on disk, or else from the network, and is kept for the "
                + "next time. A URL that fails does not stop the others.",
            "With --json, \"width\" and \"height\" are those of the picture when upright: fitted into --size where it "
                + "is given, else its own.",
            "--progressive tells of each partial picture in a line of its own, and with --show shows it; --explain says "
                + "below each picture why it was loaded from where, and how long each step took. Options are those of "
                + "ImageOptions; those that are about views change nothing here.",
            "Pictures that are loaded with --header or --user are kept apart from those that are loaded without.",
            "Ctrl-C stops the loads that are under way and says what was done; pressed again, it stops at once.",
            "The exit status is 0 where all pictures were loaded, 1 where some were not, or could not be kept, "
                + "written or refreshed, 2 for a wrong command line, 130 after Ctrl-C.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments) -> ExitStatus {
        guard !(arguments.contains(show.option) && arguments.contains(CommonOptions.json)) else {
            return Program.usageError(["--show and --json exclude each other"], path: [Program.root, command])
        }
        let list = URLList(arguments.operands)
        for problem in list.problems { Diagnostics.report(problem) }
        let plan = LoadArguments(arguments, urls: list.urls)
        let status = LoadSession.run(plan, cache: CacheLocation.configuration(from: arguments))
        return status == .success && !list.problems.isEmpty ? .failure : status
    }
}
