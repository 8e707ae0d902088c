public import EideticHTTP

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
