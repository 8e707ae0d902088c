import EideticCore

/// The results of a run so far.
struct LoadTally: Sendable {
    /// The number of URLs.
    let total: Int
    private(set) var loadedCounts: [ImageSource: Int] = [:]
    /// The number of URLs whose images an earlier run has written.
    private(set) var keptCount = 0
    private(set) var failedCount = 0
    /// The number of output files that exist and were left as they are.
    private(set) var leftFileCount = 0
    /// The number of encoded bytes of all loaded images.
    private(set) var bytes = ByteCount.zero
    /// The number of images that were loaded but not stored, written, shown or refreshed, and the first reason.
    private(set) var partialFailures: (count: Int, firstReason: String)?

    /// The number of URLs that were loaded, kept or failed.
    var finishedCount: Int { loadedCounts.values.reduce(failedCount + keptCount, +) }

    /// A Boolean value indicating whether all URLs were loaded without any failure.
    var isSuccess: Bool { failedCount == 0 && partialFailures == nil && finishedCount == total }

    mutating func add(_ outcome: LoadOutcome) {
        switch outcome.result {
        case .success(let image):
            loadedCounts[image.source, default: 0] += 1
            bytes = bytes + image.bytes
        case .failure: failedCount += 1
        }
    }

    /// Adds images that an earlier run has written.
    mutating func addKept(count: Int) { keptCount += count }

    /// Adds an output file that exists and was left as it is.
    mutating func addLeftFile() { leftFileCount += 1 }

    /// Adds an image that was loaded but not stored, written, shown or refreshed.
    mutating func addPartialFailure(_ reason: String) {
        partialFailures = ((partialFailures?.count ?? 0) + 1, partialFailures?.firstReason ?? reason)
    }

    /// The summary, such as `40 of 42 images loaded: 30 from network, 8 from disk, 2 from memory; 2 failed`.
    var text: String {
        let order: [ImageSource] = [.network, .shared, .disk, .memory]
        let sources = order.compactMap { source in loadedCounts[source].map { "\($0) from \(source.name)" } }
        var text = "\(finishedCount - failedCount - keptCount) of \(total) images loaded"
        if !sources.isEmpty { text += ": " + sources.joined(separator: ", ") }
        if keptCount > 0 { text += "; \(keptCount) written before" }
        if leftFileCount > 0 { text += "; \(leftFileCount) not written, because the file exists" }
        if failedCount > 0 { text += "; \(failedCount) failed" }
        if finishedCount < total { text += "; \(total - finishedCount) not loaded" }
        return text
    }
}
