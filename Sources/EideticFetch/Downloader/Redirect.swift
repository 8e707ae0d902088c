import EideticCore

/// One request in the chain of redirects of a download; the first has followed no redirect.
final class Redirect: Sendable {
    private let key: DownloadKey
    let url: String
    let origin: Origin
    let headers: HTTPHeaders
    let credentials: Credentials?
    /// The number of redirects that led here.
    let redirectCount: Int
    /// A Boolean value indicating whether a redirect has left the origin of the original request.
    let isCrossOrigin: Bool

    /// The request of the caller.
    var originalRequest: FetchRequest { key.request }
    /// The path of the file for the body; `nil` if the body is returned.
    var filePath: String? { key.filePath }

    init(_ key: DownloadKey) {
        let request = key.request
        self.key = key
        url = request.url
        origin = request.origin
        headers = request.headers
        credentials = request.credentials
        redirectCount = 0
        isCrossOrigin = false
    }

    private init(after previous: Redirect, to target: ParsedURL) {
        key = previous.key
        url = target.text
        origin = target.origin
        let isSameOrigin = target.origin == previous.origin
        headers = isSameOrigin ? previous.headers : previous.headers.filter(Self.isSafeForOtherOrigins)
        isCrossOrigin = previous.isCrossOrigin || !isSameOrigin
        credentials = isSameOrigin ? previous.credentials : nil
        redirectCount = previous.redirectCount + 1
    }

    /// Returns a Boolean value indicating whether a header field may be sent to another origin.
    ///
    /// All other fields were meant for the first origin: keys and tokens are sent in fields of any name.
    static func isSafeForOtherOrigins(_ name: String) -> Bool {
        ["accept", "accept-language", "accept-encoding", "user-agent", "cache-control"].contains(name.lowercased())
    }

    /// Returns the next request of the chain, or `nil` if `head` is no redirect.
    ///
    /// - Throws: `badRedirect` for too many redirects, a missing or invalid target, a scheme other than http and https,
    ///   and a redirect from https to http.
    func next(after head: ResponseHead, location target: String?, limit: Int) throws(EideticError) -> Redirect? {
        guard head.isRedirect else { return nil }
        let location = head.headers["Location"]
        func failure(_ reason: String) -> EideticError {
            let destination = location.map { " to \($0.prefix(200).printable)" } ?? ""
            return EideticError(
                .badRedirect,
                message: "\(url): redirect\(destination): \(reason)",
                httpStatus: head.status
            )
        }
        guard redirectCount < limit else { throw failure("more than \(limit) redirects in a row") }
        guard location != nil, let target else { throw failure("the response has no Location header") }
        let parsed: ParsedURL
        do throws(EideticError) { parsed = try ParsedURL(target) } catch { throw failure(error.message) }
        guard origin.scheme == "http" || parsed.origin.scheme == "https" else {
            throw failure("a redirect from https to http is not followed")
        }
        return Redirect(after: self, to: parsed)
    }

    /// Returns the response of the download.
    ///
    /// - Throws: `httpStatus` for a status other than 2xx and 304.
    func response(head: ResponseHead, outcome: ExchangeOutcome) throws(EideticError) -> FetchResponse {
        guard (200..<300).contains(head.status) || head.status == 304 else {
            let reason = head.reasonPhrase.isEmpty ? "" : " \(head.reasonPhrase.prefix(200).printable)"
            throw EideticError(
                .httpStatus,
                message: "\(url): the server responded with status \(head.status)\(reason)",
                httpStatus: head.status
            )
        }
        var response = FetchResponse(
            status: head.status,
            headers: head.headers,
            bytes: head.status == 304 ? [] : outcome.body,
            effectiveURL: url,
            sharedMetrics: outcome.sharedMetrics
        )
        response.share = outcome.share
        if redirectCount > 0 { response.metrics.redirectCount = redirectCount }
        return response
    }
}
