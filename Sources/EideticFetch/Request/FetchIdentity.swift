/// What equal downloads have in common: what is asked for, and the file that the body goes to.
///
/// An object, since everybody on the way to the server holds it: a copy of the request takes dozens of counts.
final class DownloadKey: Sendable, Hashable {
    let request: FetchRequest
    /// `nil` where the body is handed out.
    let filePath: String?
    /// Of the URL alone: requests that differ in the rest are few.
    private let hash: Int

    init(request: FetchRequest, filePath: String?) {
        self.request = request
        self.filePath = filePath
        hash = request.url.hashValue
    }

    static func == (left: DownloadKey, right: DownloadKey) -> Bool {
        left === right || left.hash == right.hash && left.filePath == right.filePath && left.request == right.request
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
