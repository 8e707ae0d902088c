/// Who asks: sent to the origin it is meant for, and never to another one after a redirect.
///
/// - SeeAlso: RFC 7617 (Basic), RFC 7616 (Digest), RFC 6750 (Bearer).
public enum Credentials: Sendable, Hashable {
    /// Name and password, sent with the first request; only safe over https.
    case basic(user: String, password: String)
    /// Name and a proof of the password, after the server asked for it: one more round trip.
    case digest(user: String, password: String)
    /// A token, sent with the first request.
    case bearer(String)
}
