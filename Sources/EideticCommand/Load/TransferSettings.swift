import EideticCore
import EideticFetch

/// The options of `eidetic load` that say how the network is asked.
enum NetworkOptions {
    static let retry = TypedOption<Int>(
        "retry",
        "N",
        expecting: "a number from 0 to 20",
        help: "after a failure that may pass, try up to N times more, at growing intervals",
        read: { text in Int(text).flatMap { (0...20).contains($0) ? $0 : nil } }
    )

    static let header = TypedOption<HTTPHeaders.Field>(
        "header",
        "FIELD",
        expecting: "a field such as \"Accept-Language: de\"",
        help:
            "send this header field, as in \"Accept-Language: de\", not to other servers after a redirect; may be given "
            + "several times",
        read: parseField
    )

    static let credentials = TypedOption<Credentials>(
        "user",
        "NAME:PASSWORD",
        expecting: "a name and a password as NAME:PASSWORD",
        help: "say who asks (Basic), not to other servers after a redirect",
        read: { text in
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return parts.count == 2 && !parts[0].isEmpty ? .basic(user: parts[0], password: parts[1]) : nil
        }
    )

    static let certificateAuthority = TypedOption<String>(
        "cacert",
        "FILE",
        help: "trust the certificates in this file (PEM) instead of the system's",
        completion: .files
    )

    static let insecure = Option(name: "insecure", help: "accept any certificate, also those of an attacker")

    static let rateLimit = TypedOption<ByteCount>(
        "limit-rate",
        "RATE",
        expecting: "bytes a second such as 500k or 2M",
        help: "download no more bytes a second than this, such as 500k or 2M, all downloads together",
        read: { text in ByteCount(parsing: text).flatMap { $0 > .zero ? $0 : nil } }
    )

    static let lifo = Option(name: "lifo", help: "begin with the last of the list")

    static let offline = Option(name: "offline", help: "ask no server: only what the cache holds")

    static let proxy = TypedOption<Downloader.Proxy>(
        "proxy",
        "URL",
        expecting: "a URL such as http://host:8080, or none",
        help:
            "go through this proxy, such as http://host:8080 or socks5h://host:1080; \"none\" for no proxy at all (the "
            + "environment's where not given)",
        read: { $0 == "none" ? Downloader.Proxy.none : $0.contains("://") ? .url($0) : nil }
    )

    static let metrics = TypedOption<String>(
        "metrics",
        "FILE",
        help: "write how each download went into this file, one JSON object a line; - for the standard output",
        completion: .files
    )

    static let options = [
        retry.option, header.option, credentials.option, certificateAuthority.option, insecure, rateLimit.option, lifo,
        offline, proxy.option,
        metrics.option,
    ]

    private static func parseField(_ text: String) -> HTTPHeaders.Field? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let value = text[text.index(after: colon)...].drop { $0 == " " }
        let field = HTTPHeaders.Field(name: String(text[..<colon]), value: String(value))
        return (try? HTTPHeaders([field]).validate()) == nil ? nil : field
    }
}
