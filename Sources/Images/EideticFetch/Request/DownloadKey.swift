import EideticHTTP

/// The key by which equal downloads are coalesced: the request, and the file for the body.
///
/// It is an object, because it is passed through all layers and a copy of a request retains dozens of references.
final class DownloadKey: Sendable, Hashable {
    let request: FetchRequest
    /// The path of the file for the body; `nil` if the body is returned.
    let filePath: String?
    /// The hash of the URL alone, because few requests differ in anything else only.
    private let hash: Int

    init(request: FetchRequest, filePath: String?) {
        self.request = request
        self.filePath = filePath
        hash = request.url.hashValue
    }

    static func == (left: DownloadKey, right: DownloadKey) -> Bool {
        left === right
            || left.hash == right.hash && left.filePath.hasSameBytes(as: right.filePath)
                && left.request == right.request
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
