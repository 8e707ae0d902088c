/// The URLs to open, of which the first one may have been delivered.
struct URLQueue: Sendable, Hashable {
    private var urls: [IncomingURL] = []
    /// The delivered URL, once the application has answered.
    private var answered: UInt64?

    init(_ urls: [IncomingURL] = []) { self.urls = urls }

    var first: IncomingURL? { urls.first }
    var count: Int { urls.count }

    /// The URLs that the application has not answered.
    var unanswered: [IncomingURL] { urls.filter { $0.id != answered } }

    /// The URLs for another process.
    var forNextProcess: URLQueue { URLQueue(urls) }

    mutating func append(_ url: IncomingURL) { urls.append(url) }

    /// Records the answer to the URL that was delivered; returns `false` if it was answered before.
    mutating func answer(_ id: UInt64) -> Bool {
        guard answered == nil else { return false }
        answered = id
        return true
    }

    /// Removes the URL that the application has opened; returns whether there was an answer.
    mutating func finish(_ url: IncomingURL) -> Bool {
        if urls.first == url { urls.removeFirst() }
        defer { answered = nil }
        return answered != nil
    }

    /// Takes the URLs that the application has not answered.
    mutating func takeUnanswered() -> [IncomingURL] {
        defer { self = URLQueue() }
        return unanswered
    }
}
