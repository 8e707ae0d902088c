import EideticCore
public import EideticHTTP

/// One request in the chain of redirects of a download; the first has followed no redirect.
final class Redirect: Sendable {
    private let key: DownloadKey
    let url: String
    let origin: Origin
    let headers: HTTPHeaders
    let method: String
    let body: [UInt8]?
    let credentials: Credentials?
    /// The number of redirects that led here.
    let redirectCount: Int
    /// A Boolean value indicating whether a redirect has left the origin of the original request.
    let isCrossOrigin: Bool
    /// The responses that led here.
    let redirects: [ResponseFreshness.Response]
    /// The conditions under which the server may confirm a cached response.
    let conditions: HTTPHeaders
    /// The target of a redirect whose own entry the conditions are about, or which is fresh.
    let cachedTarget: FetchRequest?

    var originalRequest: FetchRequest { key.request }

    init(_ key: DownloadKey) {
        let request = key.request
        self.key = key
        url = request.url
        origin = request.origin
        headers = request.headers
        method = request.method
        body = request.body
        credentials = request.credentials
        redirectCount = 0
        isCrossOrigin = false
        redirects = []
        conditions = request.conditions
        cachedTarget = nil
    }

    private init(after previous: Redirect, head: ResponseHead, to target: ParsedURL) {
        key = previous.key
        url = target.text
        origin = target.origin
        let isSameOrigin = target.origin == previous.origin
        let becomesGet = head.status == 303 || [301, 302].contains(head.status) && previous.method == "POST"
        (method, body) = becomesGet ? ("GET", nil) : (previous.method, previous.body)
        let kept = isSameOrigin ? previous.headers : previous.headers.filter(Self.isSafeForOtherOrigins)
        headers = becomesGet ? kept.filter { !$0.lowercased().hasPrefix("content-") } : kept
        isCrossOrigin = previous.isCrossOrigin || !isSameOrigin
        credentials = isSameOrigin ? previous.credentials : nil
        redirectCount = previous.redirectCount + 1
        redirects = previous.redirects + [head.cached]
        // Conditions about the own entry of a target are about no other one.
        conditions = previous.cachedTarget == nil ? previous.conditions : [:]
        cachedTarget = nil
    }

    private init(_ target: Redirect, cachedTarget: FetchRequest, conditions: HTTPHeaders) {
        key = target.key
        url = target.url
        origin = target.origin
        headers = target.headers
        credentials = target.credentials
        method = target.method
        body = target.body
        redirectCount = target.redirectCount
        isCrossOrigin = target.isCrossOrigin
        redirects = target.redirects
        self.conditions = conditions
        self.cachedTarget = cachedTarget
    }

    /// Returns this request with conditions about the target's own entry.
    func confirming(_ cachedTarget: FetchRequest, conditions: HTTPHeaders) -> Redirect {
        Redirect(self, cachedTarget: cachedTarget, conditions: conditions)
    }

    /// The request by which a caller would ask for the target of a redirect itself.
    var targetRequest: FetchRequest? {
        guard var request = try? FetchRequest(url: url) else { return nil }
        request.headers = headers
        request.credentials = credentials
        request.method = method
        request.body = body
        request.allowsInvalidCertificates = originalRequest.allowsInvalidCertificates
        request.usesCookies = originalRequest.usesCookies
        return request
    }

    /// Returns a Boolean value indicating whether a header field may be sent to another origin.
    ///
    /// All other fields were meant for the first origin: keys and tokens are sent in fields of any name. A validator is
    /// no secret.
    static func isSafeForOtherOrigins(_ name: String) -> Bool { safeNames.contains(name.lowercased()) }

    private static let safeNames: Set = [
        "accept", "accept-language", "accept-encoding", "user-agent", "cache-control", "pragma", "if-none-match",
        "if-modified-since",
    ]

    /// Returns the next request of the chain, or `nil` if `head` is no redirect.
    ///
    /// - Throws: `badRedirect` for too many redirects, a missing or invalid target, a scheme other than http and https,
    ///   a redirect from https to http, and one of a body to another origin.
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
        guard location != nil else { throw failure("the response has no Location header") }
        guard let target else { throw failure("this is no URL that can be loaded") }
        let parsed: ParsedURL
        do throws(EideticError) { parsed = try ParsedURL(target) } catch { throw failure(error.message) }
        guard origin.scheme == "http" || parsed.origin.scheme == "https" else {
            throw failure("a redirect from https to http is not followed")
        }
        let next = Redirect(after: self, head: head, to: parsed)
        guard next.body == nil || !next.isCrossOrigin else { throw failure("a body is not sent to another origin") }
        return next
    }

    /// The error of a response whose status is not acceptable.
    func statusError(of head: ResponseHead) -> EideticError {
        let reason = head.reasonPhrase.isEmpty ? "" : " \(head.reasonPhrase.prefix(200).printable)"
        return EideticError(
            .httpStatus,
            message: "\(url): the server responded with status \(head.status)\(reason)",
            httpStatus: head.status
        )
    }

    func response(head: ResponseHead, outcome: ExchangeOutcome) -> FetchResponse {
        var response = FetchResponse(
            status: head.status,
            headers: head.headers,
            bytes: head.status == 304 ? [] : outcome.body,
            effectiveURL: url,
            sharedMetrics: outcome.sharedMetrics
        )
        response.share = outcome.share
        response.origin = ResponseOrigin(redirect: self, head: head)
        if redirectCount > 0 { response.metrics.redirectCount = redirectCount }
        return response
    }
}

/// A redirect that a server has sent, before it is followed.
public struct FetchRedirect: Sendable, Hashable {
    /// The URL that redirects.
    public let url: String
    /// The absolute URL of the redirect's target.
    public let target: String
    /// The status of the response, such as 302.
    public let status: Int
    /// The header fields of the response.
    public let headers: HTTPHeaders
    /// The number of redirects that were followed before.
    public let precedingCount: Int
}
