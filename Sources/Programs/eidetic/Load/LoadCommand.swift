import Eidetic
import EideticCodecs
import EideticCLI
import EideticCore

/// The command `eidetic load`, which loads images from memory, disk or the network.
enum LoadCommand {
    static let output = TypedOption<String>(
        "out",
        placeholder: "DIR|FILE",
        help: "write the images to this directory: unchanged, or encoded again with --size and other changes; for one "
            + "URL and a name with an extension, to this file; - is standard output",
        completion: .files
    )

    static let contactSheet = TypedOption<String>(
        "contact-sheet",
        placeholder: "FILE",
        help: "write one image with thumbnails of all images, such as sheet.png",
        completion: .files
    )

    static let show = TypedOption<TerminalGraphics>(
        "show",
        placeholder: "HOW",
        expecting: "kitty, sixel or blocks",
        help:
            "show the images in the terminal, with libchafa; without HOW, the best of kitty, sixel and blocks that it "
            + "supports",
        completion: .words(TerminalGraphics.allCases.map(\.rawValue)),
        isOptional: true,
        parse: { TerminalGraphics(rawValue: $0) }
    )

    static let command: Command = .init(
        name: "load",
        summary: "load images by URL and cache them",
        operands: Operands(
            synopsis: "URL… | @FILE | -",
            help: "URLs (http, https, file, data); files with one URL per line; - for a list on standard input",
            count: 1...Int.max,
            completion: .files
        ),
        options: RenderingOptions.all + [
            EncodingOptions.format.definition, CommonOptions.quality.definition, output.definition,
            CommonOptions.overwrite, continuation, check, remoteNames, withoutRemoteTime, storesNothing, http,
            maximumAge.definition, contactSheet.definition, CommonOptions.jobs.definition,
            CommonOptions.timeout.definition,
            SharedOption.url.definition, SandboxOption.definition, SandboxOption.omission, show.definition, progressive,
            explain, cachePolicy.definition, imageOption.definition, CommonOptions.quiet, CommonOptions.json,
        ] + CommonOptions.cacheOptions + NetworkOptions.options,
        notes: [
            "Each image comes from memory, from the disk cache, from the shared tier or from the network, and is "
                + "stored in the cache. A URL that fails does not stop the others.",
            "--out without changes writes the received bytes, and checks only the header of each image; \"eidetic inspect "
                + "--check\" decodes the files.",
            SharedOption.note,
            "With --json, \"width\" and \"height\" are those of the upright image after all changes.",
            "--progressive prints a line for each partial image, and with --show displays it. --explain prints the steps "
                + "of each load with their times and results.",
            "Names for --option: \(ImageOptions.names.map(\.name).joined(separator: ", ")).",
            "--sandbox with --json first prints the restrictions of the sandbox, and those that the system lacks.",
            "The file \(OutputRecord.fileName) in DIR records which URL each file came from. A URL may replace its own file, and "
                + "others only with --overwrite; --continue skips files that are complete. A changed animation is written "
                + "as an animation (GIF, PNG, WebP, AVIF); with other formats it fails, unless "
                + "--option firstFrameOnly is given. Without --format an image keeps its format, or becomes PNG if that "
                + "cannot be written or cannot hold transparency.",
            "Images that are loaded with --header or --user are cached separately.",
            "Ctrl-C cancels the loads in progress and prints a summary; a second Ctrl-C exits at once.",
        ],
        commonOptions: [
            "size", "format", "out", "overwrite", "continue", "jobs", "header", "offline", "cache-dir", "quiet", "json",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments) -> ExitStatus {
        if let problem = problem(in: arguments) {
            return CommandRunner.usageError([problem], path: [Program.root, command])
        }
        let list = URLList(arguments.operands)
        for problem in list.problems { Diagnostics.report(problem) }
        let urls = list.urls.map(URLList.completed)
        if arguments[output] == "-", Set(urls).count > 1 {
            return CommandRunner.usageError(["--out - takes one URL"], path: [Program.root, command])
        }
        do throws(EideticError) {
            if arguments.contains(show.definition) { try TerminalGraphics.requireLibrary() }
            let session = try LoadSession(
                arguments: try LoadArguments(arguments, urls: urls),
                cache: CacheLocation.configuration(from: arguments),
                sharedTier: SharedOption.makeTier(from: arguments)
            )
            let status = session.run()
            return status == .success && !list.problems.isEmpty ? .failure : status
        } catch {
            Diagnostics.report(error.message)
            return .failure
        }
    }

    /// Returns the reason why options cannot be combined, or used at all.
    private static func problem(in arguments: Arguments) -> String? {
        if let problem = RenderingOptions.problem(in: arguments) { return problem }
        let needingOutput = [
            continuation, remoteNames, withoutRemoteTime, EncodingOptions.format.definition,
            CommonOptions.quality.definition,
        ]
        if arguments[output] == nil, let option = needingOutput.first(where: arguments.contains) {
            return "--\(option.name) requires --out"
        }
        if arguments.contains(check), !arguments.contains(continuation) { return "--check requires --continue" }
        if [arguments[output], arguments[contactSheet]].contains("-") {
            if let option = [show.definition, CommonOptions.json, progressive].first(where: arguments.contains) {
                return "--\(option.name) cannot be combined with an image on standard output"
            }
            if TextStream.output.isTerminal { return "image data is not written to a terminal" }
        }
        let names = [continuation, show.definition, contactSheet.definition].filter(arguments.contains).map(\.name)
        if arguments.contains(show.definition), arguments.contains(CommonOptions.json) {
            return "--show and --json cannot be combined"
        }
        if arguments.contains(continuation) {
            guard names.count == 1 else { return "--\(names[0]) and --\(names[1]) cannot be combined" }
        }
        guard let sheet = arguments[contactSheet], ContactSheet.format(of: sheet) == nil else {
            return nil
        }
        let known = ImageEncoder.supportedFormats.map(\.fileExtension).joined(separator: ", ")
        return "\"\(sheet)\" has no file extension of a format that can be written: \(known)"
    }
}
