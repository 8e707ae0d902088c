/// Suggestions for mistyped names.
package enum Suggestion {
    /// Returns `; did you mean "load"?`, or an empty string if no name is similar enough.
    package static func text(for word: String, among names: [String]) -> String {
        nearest(to: word, among: names).map { "; did you mean \"\($0)\"?" } ?? ""
    }

    /// Returns the name with the smallest edit distance to `word`, which is at most a third of the length of `word`.
    package static func nearest(to word: String, among names: [String]) -> String? {
        let candidates = names.map { (name: $0, distance: distance(from: Array(word.utf8), to: Array($0.utf8))) }
        let limit = max(1, word.utf8.count / 3)
        return candidates.filter { $0.distance <= limit }.min { $0.distance < $1.distance }?.name
    }

    /// Returns the number of bytes to insert, remove, replace or transpose (the optimal string alignment distance).
    ///
    /// - Complexity: O(*n* · *m*).
    private static func distance(from source: [UInt8], to target: [UInt8]) -> Int {
        var rows = [Array(0...target.count)]
        for (i, a) in source.enumerated() {
            var row = [i + 1]
            for (j, b) in target.enumerated() {
                var best = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (a == b ? 0 : 1))
                if i > 0, j > 0, a == target[j - 1], source[i - 1] == b { best = min(best, rows[i - 1][j - 1] + 1) }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[source.count][target.count]
    }
}
