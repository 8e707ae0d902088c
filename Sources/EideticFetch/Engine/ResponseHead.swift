/// The head of an answer.
struct ResponseHead: Sendable, Hashable {
    var status = 0
    var reasonPhrase = ""
    var headers = HTTPHeaders()

    /// Whether the body is wanted: that of an error page is not.
    var isSuccess: Bool { (200..<300).contains(status) }

    /// Whether it names another place to ask at.
    var isRedirect: Bool {
        switch status {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }

    /// The length that the head announces; `nil` where it has none, or one that cannot be read.
    var contentLength: Int? { headers["Content-Length"].flatMap(Int.init).flatMap { $0 < 0 ? nil : $0 } }

    /// Whether the body is compressed for the way, so that its length says nothing about what comes out.
    var hasContentCoding: Bool { headers["Content-Encoding"].map { $0.lowercased() != "identity" } ?? false }
}
