import EideticCLI
import EideticCore
import EideticFetch
import EideticHTTP

/// The network options of `eidetic load`.
enum NetworkOptions {
    static let retry = TypedOption<Int>(
        "retry",
        in: 0...20,
        help: "retry a temporary failure up to N times, at increasing intervals"
    )

    static let header = TypedOption<HTTPHeaders.Field>(
        "header",
        placeholder: "FIELD",
        expecting: "a field such as \"Accept-Language: de\"",
        help:
            "send this header field, as in \"Accept-Language: de\", but not to another origin after a redirect; can be "
            + "repeated",
        parse: parseField
    )

    static let user = TypedOption<String>(
        "user",
        placeholder: "NAME[:PASSWORD]",
        expecting: "a name and a password as NAME:PASSWORD, or a name",
        help:
            "send these credentials (Basic), but not to another origin after a redirect; prompts for a missing password; "
            + "a password given here is visible in ps until the program has started: prefer --user-file or --netrc",
        parse: { $0.isEmpty || $0.hasPrefix(":") ? nil : $0 }
    )

    static let userFile = TypedOption<String>(
        "user-file",
        help: "like --user, with NAME:PASSWORD in the first line of this file"
    )

    static let netrc = TypedOption<String>(
        "netrc",
        placeholder: "FILE",
        expecting: "a file",
        help: "send the credentials of each host in this file (default: $NETRC, or ~/.netrc)",
        completion: .files,
        isOptional: true,
        parse: { $0.isEmpty ? nil : $0 }
    )

    static let certificateAuthority = TypedOption<String>(
        "cacert",
        help: "trust the certificates in this file (PEM) instead of the system's"
    )

    static let insecure = Option(name: "insecure", help: "accept any certificate, including an attacker's")

    static let rateLimit = TypedOption<ByteCount>(
        "limit-rate",
        placeholder: "RATE",
        expecting: "a number of bytes per second such as 500k or 2M",
        help: "limit all downloads together to this many bytes per second, such as 500k or 2M",
        parse: { text in ByteCount(parsing: text).flatMap { $0 > .zero ? $0 : nil } }
    )

    static let lifo = Option(name: "lifo", help: "load waiting URLs in reverse order, the last one first")

    static let offline = Option(name: "offline", help: "send no requests; load from the cache only")

    static let proxy = TypedOption<Downloader.Proxy>(
        "proxy",
        placeholder: "URL",
        expecting: "a URL such as http://host:8080, or none",
        help:
            "use this proxy, such as http://host:8080 or socks5h://host:1080; \"none\" for no proxy (default: the "
            + "environment's proxy)",
        parse: { $0 == "none" ? Downloader.Proxy.none : $0.contains("://") ? .url($0) : nil }
    )

    static let metrics = TypedOption<String>(
        "metrics",
        help: "write the metrics of each download to this file, one JSON object per line; - for standard output"
    )

    static let maximumRedirects = TypedOption<Int>(
        "max-redirects",
        in: 0...1_000,
        help: "follow at most N redirects in a row; 0 follows none (default: 20)"
    )

    static let waitForNetwork = Option(
        name: "wait-for-network",
        help: "without a network, wait for one instead of failing"
    )

    /// The options of all commands that load.
    static let common = [
        retry.definition, waitForNetwork, maximumRedirects.definition, header.definition, user.definition,
        userFile.definition, netrc.definition, certificateAuthority.definition, insecure, rateLimit.definition,
        proxy.definition,
    ]

    static let options = common + [lifo, offline, metrics.definition]

    static func parseField(_ text: String) -> HTTPHeaders.Field? {
        guard let (name, rest) = text.divided(at: UInt8(ascii: ":")) else { return nil }
        let value = Substring(rest.utf8.drop { $0 == UInt8(ascii: " ") })
        let field = HTTPHeaders.Field(name: String(name), value: String(value))
        return (try? HTTPHeaders([field]).validate()) == nil ? nil : field
    }
}
