/// The head of a response: status line and header section.
struct ResponseHead: Sendable, Hashable {
    var status = 0
    var reasonPhrase = ""
    var headers = HTTPHeaders()

    /// A Boolean value indicating whether the status is 2xx.
    ///
    /// The body of any other response, such as an error page, is ignored.
    var isSuccess: Bool { (200..<300).contains(status) }

    /// A Boolean value indicating whether the status is that of a redirect.
    var isRedirect: Bool {
        switch status {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }

    /// The value of the `Content-Length` field; `nil` if it is missing or invalid.
    var contentLength: Int? { headers["Content-Length"].flatMap(Int.init).flatMap { $0 < 0 ? nil : $0 } }

    /// A Boolean value indicating whether the body is compressed, so that its announced length is not that of the
    /// result.
    var hasContentCoding: Bool { headers["Content-Encoding"].map { $0.lowercased() != "identity" } ?? false }
}
