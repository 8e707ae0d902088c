import EideticCore

@testable import Eidetic
@testable import EideticFetch

extension FuzzTarget {
    /// Addresses.
    static let urls = [
        FuzzTarget(
            name: "url",
            maximumLength: 1_024,
            seeds: { texts(["https://a.test:8443/b?c#d", "HTTP://ü.test/%41"]) }
        ) {
            let text = String(decoding: $0, as: UTF8.self)
            guard let url = try? ParsedURL(text) else { return }
            let again = try? ParsedURL(url.text)
            require(again?.text == url.text && again?.origin == url.origin, "\(text.debugDescription): \(url.text)")
            _ = ParsedURL.resolve(text, against: url.text)
        },
        FuzzTarget(
            name: "plain-url",
            maximumLength: 1_024,
            seeds: { texts(["https://a.test:8443/b?c", "http://127.0.0.1/"]) }
        ) {
            let text = String(decoding: $0, as: UTF8.self)
            guard let plain = PlainURL(text) else { return }
            let parsed = try? ParsedURL(parsing: text)
            require(parsed?.text == text && parsed?.origin == plain.origin, "libcurl: \(parsed?.text ?? "no URL")")
        },
        FuzzTarget(name: "data-url", seeds: { texts(["data:image/gif;base64,R0lGODlh", "data:,a%20b"]) }) { bytes in
            _ = try? DataURL(String(decoding: bytes, as: UTF8.self))
        },
        FuzzTarget(name: "signed-url", seeds: { texts(["http://a.test/b?X-Amz-Date=1&c#d"]) }) { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            let kept = SignedURL.removingQueryItems(["X-Amz-*", "c"], from: text)
            require(kept.utf8.count <= text.utf8.count, "\(kept) is longer than \(text)")
        },
    ]
}
