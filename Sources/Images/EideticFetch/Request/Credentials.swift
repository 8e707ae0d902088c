import EideticCore
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

    /// Checks the credentials against header injection, and against control characters, which no credentials have.
    ///
    /// - Throws: `invalidArgument`; its message does not contain the credentials.
    func validate() throws(EideticError) {
        let texts: [String]
        switch self {
        case .basic(let user, let password), .digest(let user, let password): texts = [user, password]
        case .bearer(let token): texts = [token]
        }
        guard !texts.contains(where: \.containsControlCharacter) else {
            throw EideticError(.invalidArgument, message: "the credentials contain a control character")
        }
    }
}
