/// Whether a response may be kept, and what of its head.
///
/// - SeeAlso: RFC 9111, section 3.
public enum Storability {
    /// Whether the answer to a GET may be kept by a cache of one user.
    ///
    /// Kept are complete pictures only (status 200 and 203), and answers that say that there is none (404, 410) or
    /// where it is (300, 301, 308), if no directive of request or response forbids it. What varies on everything
    /// (`Vary: *`) would never be found again, and is not kept.
    public static func isStorable(status: Int, fields: [HTTPField], request: [HTTPField] = []) -> Bool {
        guard [200, 203, 300, 301, 308, 404, 410].contains(status) else { return false }
        let control = CacheControl(fields)
        if CacheControl(request).noStore { return false }
        if control.noStore, !control.mustUnderstand { return false }
        return Vary(fields) != .everything
    }

    /// Whether a status lets a cache choose a lifetime where the response names none.
    ///
    /// - SeeAlso: RFC 9110, section 15.1.
    public static func isHeuristicallyCacheable(_ status: Int) -> Bool {
        [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
    }

    /// The fields of a head that are kept: without those that concern one connection.
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
