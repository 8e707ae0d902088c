/// Finds what somebody meant who mistyped a name.
enum Suggestion {
    /// `; did you mean "load"?`, or nothing where no name is near enough.
    static func text(for word: String, among names: [String]) -> String {
        nearest(to: word, among: names).map { "; did you mean \"\($0)\"?" } ?? ""
    }

    /// The name with the fewest typing errors between it and `word`: at most one for every three letters.
    static func nearest(to word: String, among names: [String]) -> String? {
        let candidates = names.map { (name: $0, distance: distance(from: Array(word.utf8), to: Array($0.utf8))) }
        let limit = max(1, word.utf8.count / 3)
        return candidates.filter { $0.distance <= limit }.min { $0.distance < $1.distance }?.name
    }

    /// How many letters must be put in, left out, changed or exchanged with their neighbour.
    ///
    /// - Complexity: O(*n* · *m*).
    private static func distance(from left: [UInt8], to right: [UInt8]) -> Int {
        var rows = [Array(0...right.count)]
        for (i, a) in left.enumerated() {
            var row = [i + 1]
            for (j, b) in right.enumerated() {
                var best = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (a == b ? 0 : 1))
                if i > 0, j > 0, a == right[j - 1], left[i - 1] == b { best = min(best, rows[i - 1][j - 1] + 1) }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}
