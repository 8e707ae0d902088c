/// The name under which a cache stores the last response of a chain of redirects.
package enum StoragePlace: Sendable, Hashable {
    /// Nothing is stored.
    case none
    case resource
    /// The URL that redirects led to, because one of them must not be stored.
    case target
}

/// The rules by which a private cache decides what it stores.
///
/// - SeeAlso: RFC 9111, section 3.
package struct StorageRules: Sendable {
    /// A Boolean value indicating whether servers determine how long responses are used.
    package var usesFreshness: Bool
    /// A Boolean value indicating whether cookies of a jar are sent, which are no part of a request's identity.
    package var usesCookies: Bool
    package var requestFields: [HTTPField]

    package init(usesFreshness: Bool, usesCookies: Bool = false, requestFields: [HTTPField] = []) {
        self.usesFreshness = usesFreshness
        self.usesCookies = usesCookies
        self.requestFields = requestFields
    }

    /// Returns the place where a response may be stored.
    ///
    /// A redirect that must not be stored, or that fields of the request selected which the response does not depend
    /// on, leaves the response to its own URL; a cache without freshness rules has no such entries.
    package func place(
        of response: ResponseFreshness.Response,
        redirects: [ResponseFreshness.Response] = []
    ) -> StoragePlace {
        guard allows(response) else { return .none }
        let names = Vary(response.fields).names
        let isChainStorable = redirects.allSatisfy { redirect in
            allows(redirect) && Vary(redirect.fields).names.isSubset(of: names)
        }
        if isChainStorable { return .resource }
        return usesFreshness ? .target : .none
    }

    /// Returns whether a response may be stored.
    ///
    /// The cookies of the jar may be another user's at the next request.
    private func allows(_ response: ResponseFreshness.Response) -> Bool {
        if usesCookies, Vary(response.fields).mayDepend(on: "cookie") { return false }
        // A response with another status than those of success and of redirects is stored by the same rules.
        if usesFreshness || !(200..<400).contains(response.status) {
            return Storability.isStorable(status: response.status, fields: response.fields, request: requestFields)
        }
        return Storability.isPermitted(status: response.status, fields: response.fields, request: requestFields)
    }
}
