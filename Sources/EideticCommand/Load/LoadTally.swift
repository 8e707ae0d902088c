import EideticCore

/// What a run has done so far.
struct LoadTally: Sendable {
    /// How many URLs there are.
    let total: Int
    /// How many pictures came from where.
    private(set) var loaded: [ImageSource: Int] = [:]
    /// How many URLs gave no picture.
    private(set) var failed = 0
    /// The encoded bytes of all pictures that were loaded.
    private(set) var bytes = ByteCount.zero
    /// How many pictures were loaded, but could not be kept, written or shown, and why the first one was not.
    private(set) var flawed: (count: Int, reason: String)?

    init(total: Int) { self.total = total }

    /// How many URLs are done, well or not.
    var finished: Int { loaded.values.reduce(failed, +) }

    /// Whether all was done as wanted.
    var isFlawless: Bool { failed == 0 && flawed == nil && finished == total }

    /// Counts one that is done.
    mutating func count(_ outcome: LoadOutcome) {
        switch outcome.result {
        case .success(let picture):
            loaded[picture.source, default: 0] += 1
            bytes = bytes + picture.bytes
        case .failure: failed += 1
        }
    }

    /// Counts a picture that was loaded, but not all that was wanted was done with it.
    mutating func countFlaw(_ reason: String) { flawed = ((flawed?.count ?? 0) + 1, flawed?.reason ?? reason) }

    /// `40 of 42 pictures loaded: 30 from network, 8 from disk, 2 from memory; 2 failed`.
    var text: String {
        let order: [ImageSource] = [.network, .shared, .disk, .memory]
        let sources = order.compactMap { source in loaded[source].map { "\($0) from \(source.rawValue)" } }
        var text = "\(finished - failed) of \(total) pictures loaded"
        if !sources.isEmpty { text += ": " + sources.joined(separator: ", ") }
        if failed > 0 { text += "; \(failed) failed" }
        if finished < total { text += "; \(total - finished) not loaded" }
        return text
    }
}
