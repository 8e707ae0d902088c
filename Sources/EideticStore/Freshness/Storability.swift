/// The rules for storing a response.
///
/// - SeeAlso: RFC 9111, section 3.
public enum Storability {
    /// Returns `true` if a private cache may store the response to a GET request.
    ///
    /// Storable are complete images (status 200 and 203), and responses that report absence (404, 410) or another
    /// location (300, 301, 308), unless a directive of the request or the response forbids it. A response with `Vary:
    /// *` would never match a later request, and is not stored.
    public static func isStorable(status: Int, fields: [HTTPField], request: [HTTPField] = []) -> Bool {
        guard [200, 203, 300, 301, 308, 404, 410].contains(status) else { return false }
        let control = CacheControl(fields)
        if CacheControl(request).noStore { return false }
        if control.noStore, !control.mustUnderstand { return false }
        return Vary(fields) != .everything
    }

    /// Returns `true` if responses of this status may have a heuristic freshness lifetime.
    ///
    /// - SeeAlso: RFC 9110, section 15.1.
    public static func isHeuristicallyCacheable(_ status: Int) -> Bool {
        [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
    }

    /// Returns the header fields to store: all but those of the connection.
    ///
    /// - SeeAlso: RFC 9111, section 3.1.
    public static func storableFields(of fields: [HTTPField]) -> [HTTPField] {
        let named = fields.values(of: "connection").flatMap(\.httpListMembers).map(\.lowercasedASCII)
        let forbidden = Set(named + connectionFields)
        return fields.filter { !forbidden.contains($0.name.lowercasedASCII) }
    }

    static let connectionFields = [
        "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authentication-info",
        "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade",
    ]
}
