import Eidetic

extension LoadCommand {
    /// What is there of a picture is told while it comes.
    static let progressive = Option(name: "progressive", help: "show partial pictures while the bytes come")

    /// The record of each load is told.
    static let explain = Option(name: "explain", help: "say how each load went, step by step")

    /// An option of the request.
    static let imageOption = TypedOption<ImageOptions>(
        "option",
        "NAME",
        expecting: "the name of an option, such as refreshCached",
        help: "load with this option; may be given several times",
        completion: .words(ImageOptions.names.map(\.name)),
        read: { ImageOptions(named: $0) }
    )

    /// All options of the request that a command line gives.
    static func imageOptions(from arguments: Arguments) -> ImageOptions {
        arguments.values(of: option).reduce(arguments.contains(progressive) ? .progressive : []) { $0.union($1) }
    }
}
