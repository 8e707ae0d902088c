import EideticCore
package import EideticHTTP

/// The header fields and credentials with which a downloader sends requests.
package final class RequestFields: Sendable {
    /// The function that returns the credentials for an origin; `nil` without one.
    let credentials: (@Sendable (Origin) -> Credentials?)?
    private let accept: String
    private let userAgent: String
    private let common: Guarded<CommonFields>

    init(_ configuration: Downloader.Configuration) {
        credentials = configuration.credentials
        accept = (configuration.acceptedTypes + ["*/*;q=0.8"]).joined(separator: ",")
        userAgent = configuration.userAgent
        common = Guarded(CommonFields(configuration.headers, accept: accept, userAgent: userAgent))
    }

    /// The header fields of every request.
    var all: HTTPHeaders { common.withLock { $0.all } }

    /// The header fields of the user's own among those.
    var own: HTTPHeaders {
        get { common.withLock { $0.own } }
        set {
            let changed = CommonFields(newValue, accept: accept, userAgent: userAgent)
            common.withLock { $0 = changed }
        }
    }

    /// Throws `invalidArgument` if a request cannot be sent.
    func validate(_ request: FetchRequest) throws(EideticError) {
        if let error = common.withLock({ $0.error }) { throw error }
        try request.validate()
    }

    /// Returns the credentials that a request is sent with.
    func credentials(of request: FetchRequest) -> Credentials? { request.credentials ?? credentials?(request.origin) }

    /// Returns a request as it is sent; by default with the common header fields of now.
    func sentRequest(of request: FetchRequest, with headers: HTTPHeaders? = nil) -> FetchRequest {
        var sent = request
        sent.headers = (headers ?? all).merging(request.headers)
        sent.credentials = credentials(of: request)
        return sent
    }

    func headers(for redirect: Redirect, resuming partialBody: PartialBody? = nil) -> HTTPHeaders {
        let common = redirect.isCrossOrigin ? all.filter(Redirect.isSafeForOtherOrigins) : all
        let requested = common.merging(redirect.headers).merging(redirect.conditions)
        return partialBody.map { requested.merging($0.rangeHeaders) } ?? requested
    }

    /// Returns the fields by which a server may select one of several variants (`Vary`), in which credentials stand for
    /// the field that they lead to.
    ///
    /// - Parameter request: The request as it is sent, after the hook.
    /// - Returns: The fields.
    package func selectingFields(ofSent request: FetchRequest) -> [HTTPField] {
        var fields = fieldsWithAgent(of: request)
        if fields["Accept-Encoding"] == nil { fields["Accept-Encoding"] = BodyDecoder.Coding.accepted }
        if let credentials = credentials(of: request) { fields["Authorization"] = "\(credentials)" }
        return fields.fields
    }

    /// Returns a request in the form in which another process can make it; `nil` if its credentials need a challenge.
    func requestForTransfer(_ request: FetchRequest) -> FetchRequest? {
        var request = request
        var fields = fieldsWithAgent(of: request)
        switch credentials(of: request) {
        case .digest?: return nil
        case .bearer(let token)?: fields["Authorization"] = "Bearer \(token)"
        case .basic(let user, let password)?:
            fields["Authorization"] = Credentials.basicField(user: user, password: password)
        case nil: break
        }
        request.headers = fields
        return request
    }

    private func fieldsWithAgent(of request: FetchRequest) -> HTTPHeaders {
        var fields = all.merging(request.headers)
        if fields["User-Agent"] == nil { fields["User-Agent"] = userAgent }
        return fields
    }
}

/// The header fields of every request of a downloader.
private struct CommonFields: Sendable {
    /// The fields of the user's own.
    let own: HTTPHeaders
    /// The same, and those that the configuration implies.
    let all: HTTPHeaders
    /// The error of an invalid field; `nil` if all are valid.
    let error: EideticError?

    init(_ own: HTTPHeaders, accept: String, userAgent: String) {
        self.own = own
        all = HTTPHeaders(dictionaryLiteral: ("Accept", accept)).merging(own)
        var fields = all
        fields.add(userAgent, for: "User-Agent")
        error = fields.requestError
    }
}

extension Credentials {
    /// Returns the value of the field `Authorization` for a name and a password.
    ///
    /// - SeeAlso: RFC 7617, section 2; RFC 4648, section 4.
    package static func basicField(user: String, password: String) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        let bytes = Array("\(user):\(password)".utf8)
        var encoded: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let value = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for index in 0..<4 {
                encoded.append(index <= group.count ? digits[value >> (18 - 6 * index) & 63] : UInt8(ascii: "="))
            }
        }
        return "Basic " + String(decoding: encoded, as: UTF8.self)
    }
}
