public import EideticCore
import EideticFetch
public import EideticHTTP

extension BackgroundURLSession {
    /// A request of a transfer.
    public struct Request: Sendable, Hashable {
        /// The URL in normal form, with the scheme `http` or `https`, without user and password.
        public let url: String

        /// The method, `GET` by default; an upload with `GET` is sent with `PUT`.
        public var httpMethod = "GET"

        /// The header fields; empty by default.
        public var headers = HTTPHeaders()

        /// Creates a request.
        ///
        /// - Parameter url: An absolute URL. A user and a password in it become the field `Authorization`.
        /// - Throws: `invalidURL`; its message has the reason.
        public init(url: String) throws(EideticError) {
            let parsed = try FetchRequest(url: url)
            self.url = parsed.url
            guard case .basic(let user, let password)? = parsed.credentials else { return }
            headers["Authorization"] = Credentials.basicField(user: user, password: password)
        }
    }

    /// The head of the response to a transfer.
    public struct Response: Sendable, Hashable {
        /// The URL of the response, which redirects may have changed.
        public let url: String

        /// The status, of whatever kind: a transfer succeeds with any.
        public let statusCode: Int

        /// The header fields.
        public let headers: HTTPHeaders

        /// Creates a response.
        public init(url: String, statusCode: Int, headers: HTTPHeaders) {
            (self.url, self.statusCode, self.headers) = (url, statusCode, headers)
        }
    }
}

extension BackgroundURLSession.Request {
    func validate() throws(EideticError) {
        guard !httpMethod.isEmpty, httpMethod.utf8.allSatisfy({ (0x41...0x5a).contains($0) || $0 == 0x2d }),
            httpMethod != "CONNECT"
        else {
            throw EideticError(.invalidArgument, message: "\"\(httpMethod)\" is not a method of a transfer")
        }
        try headers.validate()
    }
}
