import EideticCore

/// What a run has done so far.
struct LoadTally: Sendable {
    /// How many URLs there are.
    let total: Int
    /// How many pictures came from where.
    private(set) var loadedCounts: [ImageSource: Int] = [:]
    /// How many URLs gave no picture.
    private(set) var failedCount = 0
    /// The encoded bytes of all pictures that were loaded.
    private(set) var bytes = ByteCount.zero
    /// How many pictures were loaded, but could not be kept, written or shown, and why the first one was not.
    private(set) var partialFailures: (count: Int, reason: String)?

    init(total: Int) { self.total = total }

    /// How many URLs are done, well or not.
    var finishedCount: Int { loadedCounts.values.reduce(failedCount, +) }

    /// Whether all was done as wanted.
    var isSuccess: Bool { failedCount == 0 && partialFailures == nil && finishedCount == total }

    /// Counts one that is done.
    mutating func add(_ outcome: LoadOutcome) {
        switch outcome.result {
        case .success(let image):
            loadedCounts[image.source, default: 0] += 1
            bytes = bytes + image.bytes
        case .failure: failedCount += 1
        }
    }

    /// Counts a picture that was loaded, but not all that was wanted was done with it.
    mutating func addPartialFailure(_ reason: String) {
        partialFailures = ((partialFailures?.count ?? 0) + 1, partialFailures?.reason ?? reason)
    }

    /// `40 of 42 pictures loaded: 30 from network, 8 from disk, 2 from memory; 2 failed`.
    var text: String {
        let order: [ImageSource] = [.network, .shared, .disk, .memory]
        let sources = order.compactMap { source in loadedCounts[source].map { "\($0) from \(source.rawValue)" } }
        var text = "\(finishedCount - failedCount) of \(total) pictures loaded"
        if !sources.isEmpty { text += ": " + sources.joined(separator: ", ") }
        if failedCount > 0 { text += "; \(failedCount) failed" }
        if finishedCount < total { text += "; \(total - finishedCount) not loaded" }
        return text
    }
}
