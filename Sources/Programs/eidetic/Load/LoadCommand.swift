import Eidetic
import EideticCLI
import EideticCodecs
import EideticCore

/// The command `eidetic load`, which loads images from memory, disk or the network.
enum LoadCommand {
    static let output = TypedOption<String>(
        "out",
        placeholder: "DIR|FILE",
        help: "write the images to this directory: unchanged, or encoded again with --size and other changes; for one "
            + "URL and a name with an extension, to this file; - is standard output"
    )

    static let contactSheet = TypedOption<String>(
        "contact-sheet",
        help: "write one image with thumbnails of all images, such as sheet.png"
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
            Diagnostics.report(error)
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

    static let progressive = Option(name: "progressive", help: "show partial images while bytes arrive")

    /// The printing of the trace of each load.
    static let explain = Option(name: "explain", help: "show the steps of each load and their times")

    static let storesNothing = Option(name: "no-store", help: "store nothing in the disk cache, but use it")

    static let continuation = Option(
        name: "continue",
        help: "skip files that an earlier run with the same list, --out and changes has written"
    )

    /// Requests for what an earlier run has written.
    static let check = Option(name: "check", help: "with --continue, check whether existing files have changed")

    static let remoteNames = Option(
        name: "remote-names",
        help: "name the files in --out as their servers do (Content-Disposition)"
    )

    static let withoutRemoteTime = Option(
        name: "no-remote-time",
        help: "give the files in --out the time of writing instead of Last-Modified"
    )

    /// Freshness by the rules of HTTP.
    static let http = Option(
        name: "http",
        help: "use cached images as long as their servers allow, then revalidate them (default: for a week)"
    )

    static let maximumAge = TypedOption<Int>(
        "max-age",
        placeholder: "SECONDS",
        in: 0...Int.max,
        expecting: "a number of seconds",
        help: "revalidate cached images that are older; implies --http"
    )

    private static let policies: [(name: String, policy: ImageRequest.CachePolicy)] = [
        ("standard", .standard), ("memoryOnly", .memoryOnly), ("cachedOnly", .cachedOnly), ("reload", .reload),
        ("noStore", .noStore),
    ]

    static let cachePolicy = TypedOption<ImageRequest.CachePolicy>(
        "cache",
        placeholder: "POLICY",
        expecting: policies.map(\.name).joined(separator: ", "),
        help: "how to use the caches: reload ignores cached images, cachedOnly sends no request "
            + "(default: standard)",
        completion: .words(policies.map(\.name)),
        parse: { text in policies.first { $0.name == text }?.policy }
    )

    static let imageOption = TypedOption<ImageOptions>(
        "option",
        placeholder: "NAME",
        expecting: "the name of an option such as refreshCached",
        help: "set this option of ImageOptions; can be repeated",
        completion: .words(ImageOptions.names.map(\.name)),
        parse: { ImageOptions(named: $0) }
    )

    /// Returns all options of the requests on a command line.
    static func imageOptions(from arguments: Arguments) -> ImageOptions {
        var options: ImageOptions = arguments.contains(progressive) ? .progressive : []
        if arguments.contains(RenderingOptions.partial) { options.insert(.allowsPartial) }
        return arguments.values(of: imageOption).reduce(options) { $0.union($1) }
    }

    /// Returns the use of the caches on a command line; a load waits until its bytes are stored.
    static func cachePolicy(from arguments: Arguments) -> ImageRequest.CachePolicy {
        var policy = arguments[cachePolicy] ?? .standard
        if arguments.contains(storesNothing) { policy.writes.formIntersection(.memory) }
        policy.waitsForStorage = true
        return policy
    }
}
