/// URLs whose query holds a signature that changes while the picture stays the same.
enum SignedURL {
    /// The URL without the query items of these names; `*` at a name's end stands for any ending.
    static func removingQueryItems(_ names: Set<String>, from url: String) -> String {
        let (rest, fragment) = split(url, at: "#")
        let (base, query) = split(rest, at: "?")
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

    private static func split(_ text: String, at mark: Character) -> (String, String?) {
        guard let index = text.firstIndex(of: mark) else { return (text, nil) }
        return (String(text[..<index]), String(text[text.index(after: index)...]))
    }
}
