/// URLs whose query has a signature that changes while the image stays the same.
enum SignedURL {
    /// Returns a URL without the query items of the given names.
    ///
    /// - Parameters:
    ///   - names: The names; `*` at the end of a name stands for any ending.
    ///   - url: The URL.
    /// - Returns: The URL; `url` itself if it has no query.
    static func removingQueryItems(_ names: Set<String>, from url: String) -> String {
        let (address, fragment) = split(url, at: "#")
        let (base, query) = split(address, at: "?")
        guard let query else { return url }
        let kept = query.split(separator: "&", omittingEmptySubsequences: false).filter { item in
            let name = String(item.prefix { $0 != "=" })
            return !names.contains { matches(name, pattern: $0) }
        }
        let end = fragment.map { "#\($0)" } ?? ""
        return kept.isEmpty ? base + end : "\(base)?\(kept.joined(separator: "&"))\(end)"
    }

    private static func matches(_ name: String, pattern: String) -> Bool {
        pattern.hasSuffix("*") ? name.hasPrefix(pattern.dropLast()) : name == pattern
    }

    private static func split(_ text: String, at separator: Character) -> (String, String?) {
        guard let index = text.firstIndex(of: separator) else { return (text, nil) }
        return (String(text[..<index]), String(text[text.index(after: index)...]))
    }
}
