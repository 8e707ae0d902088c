import EideticCore

@testable import Eidetic
@testable import EideticFetch

extension FuzzTarget {
    /// Addresses.
    static let urls = [
        FuzzTarget(
            name: "url",
            maximumLength: 1_024,
            seeds: { texts(addresses) }
        ) {
            let text = String(decoding: $0, as: UTF8.self)
            _ = (ParsedURL.resolve(text, against: "https://a.test/b/c?d"), ParsedURL.normalisedHost(text))
            guard let url = try? ParsedURL(text) else { return }
            let again = try? ParsedURL(url.text)
            require(again?.text == url.text && again?.origin == url.origin, "\(text.debugDescription): \(url.text)")
            _ = ParsedURL.resolve(text, against: url.text)
        },
        FuzzTarget(
            name: "plain-url",
            maximumLength: 1_024,
            seeds: {
                texts(addresses + ["https://a.test:8443/b?c", "http://127.0.0.1/", "http://a..b/", "http://1.2.3/"])
            }
        ) {
            let text = String(decoding: $0, as: UTF8.self)
            // A longer URL is refused before it is parsed.
            guard text.utf8.count <= 65_536, let plain = PlainURL(text) else { return }
            let parsed = try? ParsedURL(parsing: text)
            require(parsed?.text == text && parsed?.origin == plain.origin, "libcurl: \(parsed?.text ?? "no URL")")
        },
        FuzzTarget(name: "data-url", seeds: { texts(dataURLs) }) { bytes in
            _ = try? DataURL(String(decoding: bytes, as: UTF8.self))
        },
        FuzzTarget(
            name: "signed-url",
            seeds: { texts(["http://a.test/b?X-Amz-Date=1&c#d", "http://a.test/b?d=1&c", "b#c"]) }
        ) { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            let kept = SignedURL.removingQueryItems(["X-Amz-*", "c"], from: text)
            require(kept.utf8.count <= text.utf8.count, "\(kept) is longer than \(text)")
        },
    ]

    /// URLs and references in normal form and in others, and texts that are none.
    private static let addresses = [
        "https://a.test:8443/b?c#d", "HTTP://ü.test/%41", " http://user:p%40ss@a.test./?q#f", "ftp://a.test/", "//b/c",
        "../d",
        "?q", "", "http://[::1]:80/a", "http://a%41.test/", "http://a%25b/", "http://0x7f.1/", "http://a.test:99999/",
        "http://",
        "http://u%01@a.test/", "http://a.test/a b", "http://a\0b/", "http://a..", "a.test", "http://a.test/./b/../c",
        "mailto:a",
    ]

    private static let dataURLs = [
        "data:image/gif;base64,R0lGODlh", "data:,a%20b%2", "data:text/plain; BASE64 ,QUI= \n", "data:;base64,QQ=",
        "data:;base64,-_",
        "data:", "data:base64,QQ", "data:,a#b", "data:;base64,QQ==",
    ]
}
