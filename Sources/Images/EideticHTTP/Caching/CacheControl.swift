import EideticCore

/// The cache directives of a response or a request.
///
/// Unknown directives are ignored. An argument may be a token or a quoted string. If a directive occurs twice with
/// different arguments, or with an argument that is not a number of seconds, its most restrictive meaning applies.
/// - SeeAlso: RFC 9111, sections 1.2.2, 4.2.1, 5.2 and 5.4; RFC 5861; RFC 8246.
package struct CacheControl: Sendable, Hashable {
    /// A number of seconds, at most 2³¹.
    package typealias Seconds = Int

    /// The largest number of seconds; larger ones are reduced to it.
    static let maximumSeconds = 1 << 31

    /// The `max-age` directive; 0 if its argument is invalid.
    package let maxAge: Seconds?
    /// The `s-maxage` directive, the lifetime in caches that several users share; 0 if its argument is invalid.
    package let sharedMaxAge: Seconds?
    /// The `no-store` directive: the response must not be stored.
    package let noStore: Bool
    /// The `no-cache` directive, with or without field names: the response must be validated before each use.
    package let noCache: Bool
    /// The `must-revalidate` directive: the response must not be used stale, not even if the origin cannot be reached.
    package let mustRevalidate: Bool
    /// The `private` directive, with or without field names: the response is not for shared caches.
    package let isPrivate: Bool
    /// The `public` directive: the response may be stored where it otherwise might not.
    package let isPublic: Bool
    /// The `must-understand` directive: it overrides `no-store` for a status that the cache understands.
    package let mustUnderstand: Bool
    /// The `immutable` directive: a fresh response need not be validated, not even when the user reloads.
    package let isImmutable: Bool
    /// The `stale-while-revalidate` directive; 0 if its argument is invalid.
    package let staleWhileRevalidate: Seconds?
    /// The `stale-if-error` directive; 0 if its argument is invalid.
    package let staleIfError: Seconds?
    /// The `only-if-cached` directive of a request: only a stored response is wanted.
    package let onlyIfCached: Bool
    /// The `max-stale` directive of a request: the staleness that it accepts; 2³¹ seconds without an argument.
    package let maxStale: Seconds?
    /// The `min-fresh` directive of a request: the time for which the response must stay fresh.
    package let minFresh: Seconds?

    /// A Boolean value indicating whether a request with these directives wants no stored response as it is.
    package var refusesCached: Bool { noCache || maxAge == 0 }

    package static func isRequestField(_ name: String) -> Bool {
        HTTPHeaders.isSameName(name, "cache-control") || HTTPHeaders.isSameName(name, "pragma")
    }

    /// Parses the directives of all `Cache-Control` fields, or `Pragma: no-cache` if there are none.
    package init(_ fields: [HTTPField]) {
        let directives = Directives(fields)
        maxAge = directives.seconds(of: "max-age")
        sharedMaxAge = directives.seconds(of: "s-maxage")
        noStore = directives.contains("no-store")
        noCache = directives.contains("no-cache")
        mustRevalidate = directives.contains("must-revalidate")
        isPrivate = directives.contains("private")
        isPublic = directives.contains("public")
        mustUnderstand = directives.contains("must-understand")
        isImmutable = directives.contains("immutable")
        staleWhileRevalidate = directives.seconds(of: "stale-while-revalidate")
        staleIfError = directives.seconds(of: "stale-if-error")
        onlyIfCached = directives.contains("only-if-cached")
        let acceptsAnyStaleness = directives.arguments(of: "max-stale") == [nil]
        maxStale = acceptsAnyStaleness ? Self.maximumSeconds : directives.seconds(of: "max-stale")
        minFresh = directives.seconds(of: "min-fresh")
    }
}

/// Directives by name, in lower case, with all their arguments.
private struct Directives {
    private var argumentsByName: [String: [String?]] = [:]

    init(_ fields: [HTTPField]) {
        let values = fields.values(of: "cache-control")
        for directive in values.flatMap(\.httpListMembers) {
            let parts = directive.divided(at: UInt8(ascii: "="))
            // Browsers allow white space behind the equals sign.
            let text = parts.map { String($0.rest).trimmingOptionalWhitespace }
            let argument = text.map { $0.httpUnquoted ?? $0 }
            argumentsByName[String(parts?.front ?? directive[...]).lowercasedASCII, default: []].append(argument)
        }
        if values.isEmpty,
            fields.values(of: "pragma").contains(where: { $0.lowercasedASCII.httpListMembers.contains("no-cache") })
        {
            argumentsByName["no-cache"] = [nil]
        }
    }

    func contains(_ name: String) -> Bool { argumentsByName[name] != nil }

    func arguments(of name: String) -> [String?] { argumentsByName[name] ?? [] }

    func seconds(of name: String) -> Int? {
        guard let arguments = argumentsByName[name], let first = arguments.first else { return nil }
        guard Set(arguments).count == 1, let seconds = first?.httpInteger else { return 0 }
        return min(seconds, CacheControl.maximumSeconds)
    }
}
