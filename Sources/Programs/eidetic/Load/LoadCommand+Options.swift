import Eidetic
import EideticCLI

extension LoadCommand {
    /// The reporting of partial images.
    static let progressive = Option(name: "progressive", help: "show partial images while bytes arrive")

    /// The printing of the trace of each load.
    static let explain = Option(name: "explain", help: "show the steps of each load and their times")

    /// Loads that leave the disk cache as it is.
    static let storesNothing = Option(name: "no-store", help: "store nothing in the disk cache; what it has is used")

    /// The continuation of an earlier run.
    static let continuation = Option(
        name: "continue",
        help: "leave out what an earlier run with the same list, --out and changes has written"
    )

    /// An option of the requests.
    static let imageOption = TypedOption<ImageOptions>(
        "option",
        placeholder: "NAME",
        expecting: "the name of an option such as refreshCached",
        help: "load with this option of ImageOptions; can be repeated",
        completion: .words(ImageOptions.names.map(\.name)),
        parse: { ImageOptions(named: $0) }
    )

    /// Returns all options of the requests on a command line.
    static func imageOptions(from arguments: Arguments) -> ImageOptions {
        var options: ImageOptions = arguments.contains(progressive) ? .progressive : []
        if arguments.contains(storesNothing) { options.insert(.cacheMemoryOnly) }
        return arguments.values(of: imageOption).reduce(options) { $0.union($1) }
    }
}
