/// The rules for storing a response.
///
/// - SeeAlso: RFC 9111, section 3.
package enum Storability {
    /// Returns `true` if a private cache may store the response to a GET request.
    ///
    /// Storable are final, complete responses of the statuses that may be fresh without an explicit lifetime, and of
    /// any other one with an explicit lifetime or `public`, unless a directive of the request or the response forbids
    /// it. Parts of a body (206) and confirmations (304) are no responses of their own.
    package static func isStorable(status: Int, fields: [HTTPField], request: [HTTPField] = []) -> Bool {
        guard (200...599).contains(status), ![206, 304].contains(status) else { return false }
        if CacheControl(request).noStore || isForbidden(status: status, fields: fields) { return false }
        let control = CacheControl(fields)
        return isHeuristicallyCacheable(status) || control.isPublic || control.maxAge != nil
            || !fields.values(of: "expires").isEmpty
    }

    /// Returns `true` if nothing forbids to store a response, for a cache with a lifetime of its own.
    ///
    /// The response need not state a lifetime. Parts of a body (206) are not stored.
    package static func isPermitted(status: Int, fields: [HTTPField], request: [HTTPField] = []) -> Bool {
        status != 206 && !CacheControl(request).noStore && !isForbidden(status: status, fields: fields)
    }

    /// The statuses whose requirements on caches are implemented, as `must-understand` demands.
    private static let understoodStatuses: Set = [200, 203, 301, 308, 404, 410]

    /// Returns `true` if the fields of a response forbid to store it.
    static func isForbidden(status: Int, fields: [HTTPField]) -> Bool {
        let control = CacheControl(fields)
        // For a status that is understood, the directive overrides `no-store`; any other must not be stored.
        return control.mustUnderstand ? !understoodStatuses.contains(status) : control.noStore
    }

    /// Returns `true` if responses of this status may have a heuristic freshness lifetime.
    ///
    /// - SeeAlso: RFC 9110, section 15.1.
    package static func isHeuristicallyCacheable(_ status: Int) -> Bool {
        [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
    }

    /// Returns the header fields to store: all but those of the connection.
    ///
    /// - SeeAlso: RFC 9111, section 3.1.
    package static func storableFields(of fields: [HTTPField]) -> [HTTPField] {
        let named = fields.values(of: "connection").flatMap(\.httpListMembers)
        // A list is quicker for the few names of a usual response; those of a hostile one may be thousands.
        guard named.count <= 8 else {
            let names = Set(named.map(\.lowercasedASCII) + connectionFields)
            return fields.filter { !names.contains($0.name.lowercasedASCII) }
        }
        return fields.filter { field in
            !(hasConnectionLength(field.name) && connectionFields.contains { HTTPHeaders.isSameName($0, field.name) })
                && !named.contains { HTTPHeaders.isSameName($0, field.name) }
        }
    }

    static let connectionFields = [
        "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authentication-info",
        "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// Returns whether a name is as long as one of ``connectionFields``, which few others are.
    private static func hasConnectionLength(_ name: String) -> Bool {
        switch name.utf8.count {
        case 2, 7, 10, 16...19, 25: true
        default: false
        }
    }
}
