/// The value of a `Content-Range` field: the range of bytes in a partial response, and the length of the whole.
///
/// - SeeAlso: RFC 9110, section 14.4.
package struct ContentRange: Sendable, Hashable {
    package let first: Int
    package let last: Int
    /// The complete length; `nil` if the server does not provide it.
    package let total: Int?

    /// Parses a value such as `bytes 100-199/1000`; `nil` for any other form.
    package init?(_ field: String) {
        let words = field.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let sides = words[1].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        let ends = sides[0].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            .map { String($0).httpInteger }
        // The end of the range is a number, too.
        guard ends.count == 2, let first = ends[0], let last = ends[1], last >= first, last < .max else { return nil }
        let total = String(sides[1]).httpInteger
        guard sides[1] == "*" || (total.map { $0 > last } ?? false) else { return nil }
        self.first = first
        self.last = last
        self.total = total
    }
}
