import EideticCore

/// URLs whose query has a signature that changes while the image stays the same.
enum SignedURL {
    /// Returns a URL without the query items of the given names.
    ///
    /// - Parameters:
    ///   - names: The names; `*` at the end of a name stands for any ending.
    ///   - url: The URL.
    /// - Returns: The URL; `url` itself if it has no query.
    static func removingQueryItems(_ names: Set<String>, from url: String) -> String {
        let (address, fragment) = split(url, at: UInt8(ascii: "#"))
        let (base, query) = split(address, at: UInt8(ascii: "?"))
        guard let query else { return url }
        let items = query.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        let kept = items.map { Substring($0) }.filter { item in
            let name = String(item.divided(at: UInt8(ascii: "="))?.front ?? item)
            return !names.contains { matches(name, pattern: $0) }
        }
        let end = fragment.map { "#\($0)" } ?? ""
        return kept.isEmpty ? base + end : "\(base)?\(kept.joined(separator: "&"))\(end)"
    }

    private static func matches(_ name: String, pattern: String) -> Bool {
        pattern.hasSuffix("*") ? name.hasPrefix(pattern.dropLast()) : name == pattern
    }

    private static func split(_ text: String, at separator: UInt8) -> (String, String?) {
        guard let parts = text.divided(at: separator) else { return (text, nil) }
        return (String(parts.front), String(parts.rest))
    }
}
