import EideticCore

/// One station of a download on its way through redirects.
final class Hop: Sendable {
    private let identity: FetchIdentity
    let url: String
    let origin: Origin
    let headers: HTTPHeaders
    let credentials: Credentials?
    let redirects: Int
    /// Whether a redirect has led away from the origin that the caller named.
    let isForeign: Bool

    var request: FetchRequest { identity.request }
    /// The file that the body goes to; `nil` where it is handed out.
    var file: String? { identity.file }

    init(_ identity: FetchIdentity) {
        let request = identity.request
        self.identity = identity
        url = request.url
        origin = request.origin
        headers = request.headers
        credentials = request.credentials
        redirects = 0
        isForeign = false
    }

    private init(after hop: Hop, to target: ParsedURL) {
        identity = hop.identity
        url = target.text
        origin = target.origin
        let isSameOrigin = target.origin == hop.origin
        headers = isSameOrigin ? hop.headers : hop.headers.filter(Self.isHarmless)
        isForeign = hop.isForeign || !isSameOrigin
        credentials = isSameOrigin ? hop.credentials : nil
        redirects = hop.redirects + 1
    }

    /// What a stranger may read.
    ///
    /// Everything else the caller gave was meant for the first origin: keys and tokens hide in fields of any name.
    static func isHarmless(_ name: String) -> Bool {
        ["accept", "accept-language", "accept-encoding", "user-agent", "cache-control"].contains(name.lowercased())
    }

    /// The next station, where `head` is a redirect; `nil` where it is not.
    ///
    /// - Throws: `badRedirect` for too many, for one to a scheme other than http and https, from https to http, or to
    ///   nothing that can be read.
    func following(_ head: ResponseHead, to target: String?, limit: Int) throws(EideticError) -> Hop? {
        guard head.isRedirect else { return nil }
        let location = head.headers["Location"]
        func refusal(_ reason: String) -> EideticError {
            let place = location.map { " to \($0.prefix(200))" } ?? ""
            return EideticError(.badRedirect, "\(url): redirect\(place): \(reason)", httpStatus: head.status)
        }
        guard redirects < limit else { throw refusal("more than \(limit) in a row") }
        guard location != nil, let target else { throw refusal("it says not where to") }
        let parsed: ParsedURL
        do throws(EideticError) { parsed = try ParsedURL(target) } catch { throw refusal(error.message) }
        guard origin.scheme == "http" || parsed.origin.scheme == "https" else {
            throw refusal("from https to http")
        }
        return Hop(after: self, to: parsed)
    }

    /// The answer to hand out.
    ///
    /// - Throws: `httpStatus` for a status other than 2xx and 304.
    func response(_ head: ResponseHead, _ outcome: TransferOutcome) throws(EideticError) -> FetchResponse {
        guard (200..<300).contains(head.status) || head.status == 304 else {
            let reason = head.reason.isEmpty ? "" : " \(head.reason)"
            throw EideticError(
                .httpStatus,
                "\(url): the server answered \(head.status)\(reason)",
                httpStatus: head.status
            )
        }
        let bytes = head.status == 304 ? [] : outcome.body
        var response = FetchResponse(head.status, head.headers, bytes, url, outcome.measured)
        if redirects > 0 { response.metrics.redirects = redirects }
        return response
    }
}
