/// The key by which equal downloads are coalesced: the request.
///
/// It is an object, because it is passed through all layers and a copy of a request retains dozens of references.
final class DownloadKey: Sendable, Hashable {
    let request: FetchRequest
    /// The hash of the URL alone, because few requests differ in anything else only.
    private let hash: Int

    init(_ request: FetchRequest) {
        self.request = request
        hash = request.url.hashValue
    }

    static func == (left: DownloadKey, right: DownloadKey) -> Bool {
        left === right || left.hash == right.hash && left.request == right.request
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
