import Eidetic
import EideticCLI

extension LoadCommand {
    /// The reporting of partial images.
    static let progressive = Option(name: "progressive", help: "show partial images while bytes arrive")

    /// The printing of the trace of each load.
    static let explain = Option(name: "explain", help: "show the steps of each load and their times")

    /// Loads that leave the disk cache as it is.
    static let storesNothing = Option(name: "no-store", help: "store nothing in the disk cache, but use it")

    /// The continuation of an earlier run.
    static let continuation = Option(
        name: "continue",
        help: "skip files that an earlier run with the same list, --out and changes has written"
    )

    /// Requests for what an earlier run has written.
    static let check = Option(name: "check", help: "with --continue, check whether existing files have changed")

    /// Names that servers give.
    static let remoteNames = Option(
        name: "remote-names",
        help: "name the files in --out as their servers do (Content-Disposition)"
    )

    /// File times of this machine.
    static let withoutRemoteTime = Option(
        name: "no-remote-time",
        help: "give the files in --out the time of writing instead of Last-Modified"
    )

    /// Freshness by the rules of HTTP.
    static let http = Option(
        name: "http",
        help: "use cached images as long as their servers allow, then revalidate them (default: for a week)"
    )

    /// The age of cached images.
    static let maximumAge = TypedOption<Int>(
        "max-age",
        placeholder: "SECONDS",
        expecting: "a number of seconds",
        help: "revalidate cached images that are older; implies --http",
        parse: { text in Int(text).flatMap { $0 >= 0 ? $0 : nil } }
    )

    /// The use of the caches.
    static let cachePolicy = TypedOption<ImageRequest.CachePolicy>(
        "cache",
        placeholder: "POLICY",
        expecting: ImageRequest.CachePolicy.names.map(\.name).joined(separator: ", "),
        help: "how to use the caches: reload ignores cached images, cachedOnly sends no request "
            + "(default: standard)",
        completion: .words(ImageRequest.CachePolicy.names.map(\.name)),
        parse: { text in ImageRequest.CachePolicy.names.first { $0.name == text }?.policy }
    )

    /// An option of the requests.
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
