import EideticCore
import EideticFetch
public import EideticHTTP
public import struct FoundationEssentials.URL

extension BackgroundURLSession {
    /// A request of a transfer.
    ///
    /// Creating one never fails; creating a task with an invalid URL fails.
    public struct Request: Sendable, Hashable, ExpressibleByStringLiteral {
        /// The URL in normal form, with the scheme `http` or `https`, without user and password.
        public let url: String

        /// The method, `GET` by default; an upload with `GET` is sent with `PUT`.
        public var httpMethod = "GET"

        /// The header fields; empty by default.
        public var headers = HTTPHeaders()

        /// The redirects that a transfer follows; all by default.
        ///
        /// It is set in advance, because the application may not be running when the redirect arrives.
        public var redirects = RedirectPolicy.followed

        /// The reason why the text is no URL; `nil` for a URL.
        private let invalidity: String?

        /// Creates a request for a URL given as text.
        ///
        /// - Parameter url: An absolute URL. A user and a password in it become the field `Authorization`. A task for
        ///   any other text is refused with `invalidURL`.
        public init(_ url: String) {
            let parsed = FetchRequest(url)
            self.url = parsed.url
            invalidity = parsed.invalidity
            guard case .basic(let user, let password)? = parsed.credentials else { return }
            headers["Authorization"] = Credentials.basicField(user: user, password: password)
        }

        /// Creates a request for a URL.
        public init(url: URL) { self.init(url.absoluteString) }

        /// Creates a request for a URL from a string literal.
        public init(stringLiteral url: String) { self.init(url) }

        /// Creates a request for a URL given as text.
        ///
        /// - Throws: `invalidURL`; its message has the reason.
        package init(url: String) throws(EideticError) {
            self.init(url)
            if let invalidity { throw EideticError(.invalidURL, message: invalidity) }
        }
    }

    /// The redirects that a transfer follows.
    ///
    /// A redirect that is not followed is the result of the transfer, with its status, such as 302, and its field
    /// `Location`: the application can create another task for the new URL.
    public enum RedirectPolicy: Sendable, Hashable {
        /// All valid redirects: at most 20, none from https to http, and none from a public to a private address.
        case followed
        /// The valid redirects that stay within scheme, host and port.
        case followedWithinOrigin
        /// No redirect.
        case delivered
    }

    /// The head of the response to a transfer.
    public struct Response: Sendable, Hashable {
        /// The URL of the response, which redirects may have changed.
        public let url: String

        /// The HTTP status; a transfer succeeds with any status.
        public let statusCode: Int

        /// The header fields.
        public let headers: HTTPHeaders

        /// A Boolean value indicating whether the server has received the whole upload, but its response was lost.
        ///
        /// The connection or the transfer process ended before the response arrived. Status and header fields are then
        /// those of a later `HEAD` request, in which the server stated that the upload is complete
        /// (`Upload-Complete: ?1`); the body is empty.
        public var isAnswerLost: Bool { headers[TransferEvent.Response.lostAnswerField] != nil }

        /// Creates a response.
        public init(url: String, statusCode: Int, headers: HTTPHeaders) {
            self.url = url
            self.statusCode = statusCode
            self.headers = headers
        }
    }
}

extension BackgroundURLSession.Request {
    func validate() throws(EideticError) {
        if let invalidity { throw EideticError(.invalidURL, message: invalidity) }
        guard !httpMethod.isEmpty, httpMethod.utf8.allSatisfy({ (0x41...0x5a).contains($0) || $0 == 0x2d }),
            httpMethod != "CONNECT"
        else {
            throw EideticError(.invalidArgument, message: "\"\(httpMethod)\" is not a method of a transfer")
        }
        try headers.validate()
    }
}
