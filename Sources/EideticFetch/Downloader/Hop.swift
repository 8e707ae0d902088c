import EideticCore

/// One station of a download on its way through redirects.
final class Redirect: Sendable {
    private let key: DownloadKey
    let url: String
    let origin: Origin
    let headers: HTTPHeaders
    let credentials: Credentials?
    let redirectCount: Int
    /// Whether a redirect has led away from the origin that the caller named.
    let isCrossOrigin: Bool

    var originalRequest: FetchRequest { key.request }
    /// The file that the body goes to; `nil` where it is handed out.
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

    /// What a stranger may read.
    ///
    /// Everything else the caller gave was meant for the first origin: keys and tokens hide in fields of any name.
    static func isSafeForOtherOrigins(_ name: String) -> Bool {
        ["accept", "accept-language", "accept-encoding", "user-agent", "cache-control"].contains(name.lowercased())
    }

    /// The next station, where `head` is a redirect; `nil` where it is not.
    ///
    /// - Throws: `badRedirect` for too many, for one to a scheme other than http and https, from https to http, or to
    ///   nothing that can be read.
    func next(after head: ResponseHead, location target: String?, limit: Int) throws(EideticError) -> Redirect? {
        guard head.isRedirect else { return nil }
        let location = head.headers["Location"]
        func failure(_ reason: String) -> EideticError {
            let destination = location.map { " to \($0.prefix(200))" } ?? ""
            return EideticError(
                .badRedirect,
                message: "\(url): redirect\(destination): \(reason)",
                httpStatus: head.status
            )
        }
        guard redirectCount < limit else { throw failure("more than \(limit) in a row") }
        guard location != nil, let target else { throw failure("it says not where to") }
        let parsed: ParsedURL
        do throws(EideticError) { parsed = try ParsedURL(target) } catch { throw failure(error.message) }
        guard origin.scheme == "http" || parsed.origin.scheme == "https" else {
            throw failure("from https to http")
        }
        return Redirect(after: self, to: parsed)
    }

    /// The answer to hand out.
    ///
    /// - Throws: `httpStatus` for a status other than 2xx and 304.
    func response(head: ResponseHead, outcome: ExchangeOutcome) throws(EideticError) -> FetchResponse {
        guard (200..<300).contains(head.status) || head.status == 304 else {
            let reason = head.reasonPhrase.isEmpty ? "" : " \(head.reasonPhrase)"
            throw EideticError(
                .httpStatus,
                message: "\(url): the server answered \(head.status)\(reason)",
                httpStatus: head.status
            )
        }
        let bytes = head.status == 304 ? [] : outcome.body
        var response = FetchResponse(
            status: head.status,
            headers: head.headers,
            bytes: bytes,
            effectiveURL: url,
            sharedMetrics: outcome.sharedMetrics
        )
        if redirectCount > 0 { response.metrics.redirectCount = redirectCount }
        return response
    }
}
