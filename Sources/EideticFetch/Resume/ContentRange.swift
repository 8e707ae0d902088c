/// The value of a `Content-Range` field: the range of bytes in a partial response, and the length of the whole.
///
/// - SeeAlso: RFC 9110, section 14.4.
struct ContentRange: Hashable {
    let first: Int
    let last: Int
    /// The complete length; `nil` if the server does not provide it.
    let total: Int?

    /// Parses a value such as `bytes 100-199/1000`; `nil` for any other form.
    init?(_ field: String) {
        let words = field.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let sides = words[1].split(separator: "/", maxSplits: 1)
        guard sides.count == 2 else { return nil }
        let ends = sides[0].split(separator: "-", maxSplits: 1).map { Int($0) }
        guard ends.count == 2, let first = ends[0], let last = ends[1], first >= 0, last >= first else { return nil }
        let total = Int(sides[1])
        guard sides[1] == "*" || (total.map { $0 > last } ?? false) else { return nil }
        self.first = first
        self.last = last
        self.total = total
    }
}
