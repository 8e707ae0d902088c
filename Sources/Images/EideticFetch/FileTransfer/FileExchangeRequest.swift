package import EideticCore
package import EideticHTTP

/// One HTTP request whose response is passed on as it arrives, with any status and without decoding.
package struct FileExchangeRequest: Sendable {
    package var method: String
    /// The URL, in the form of ``FetchRequest/url``.
    package var url: String
    package var headers: HTTPHeaders
    /// The number of bytes to send as the body; `nil` for none.
    package var bodyLength: Int?
    /// A Boolean value indicating whether the body waits for the server's consent (`Expect: 100-continue`), for at most
    /// a second.
    package var expectsContinue = false
    /// A Boolean value indicating whether only public addresses may be connected to.
    package var requiresPublicAddress = false
    /// The number of a set of cookies; `nil` to send and store none.
    package var cookieJar: Int?

    /// Creates a request without a body.
    package init(method: String, url: String, headers: HTTPHeaders = [:]) {
        self.method = method
        self.url = url
        self.headers = headers
    }
}

/// A URL and the credentials that it contained.
package struct TransferURL: Sendable, Hashable {
    /// The URL in normal form, without user, password and fragment.
    package let text: String
    package let origin: Origin
    package let credentials: Credentials?

    /// Parses a URL; throws `invalidURL`.
    package init(_ text: String) throws(EideticError) {
        let request = try FetchRequest(url: text)
        self.text = request.url
        origin = request.origin
        credentials = request.credentials
    }

    /// The value of the `Authorization` field for credentials in the URL.
    package var authorization: String? {
        guard case .basic(let user, let password) = credentials else { return nil }
        return Credentials.basicField(user: user, password: password)
    }

    /// The scheme, the authority and the path: the URL without its query.
    package var resource: Substring { text.prefix { $0 != "?" } }
}
