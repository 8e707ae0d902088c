import EideticHTTP

/// Credentials for one origin, never sent to another one after a redirect.
///
/// - SeeAlso: RFC 7617 (Basic), RFC 7616 (Digest), RFC 6750 (Bearer).
public enum Credentials: Sendable, Hashable {
    /// A name and a password, sent with the first request; safe over https only.
    case basic(user: String, password: String)
    /// A name and a proof of the password, sent after a challenge of the server, which costs one more round trip.
    case digest(user: String, password: String)
    /// A token, sent with the first request.
    case bearer(String)

    /// Returns a Boolean value indicating whether two credentials have the same bytes.
    public static func == (left: Credentials, right: Credentials) -> Bool {
        switch (left, right) {
        case (.basic(let user, let password), .basic(let otherUser, let otherPassword)),
            (.digest(let user, let password), .digest(let otherUser, let otherPassword)):
            user.hasSameBytes(as: otherUser) && password.hasSameBytes(as: otherPassword)
        case (.bearer(let token), .bearer(let other)): token.hasSameBytes(as: other)
        default: false
        }
    }
}
