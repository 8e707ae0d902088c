/// The directives of `Cache-Control` fields, of a response or of a request.
///
/// Unknown directives are ignored. An argument may stand in quotes or not. Of a directive that stands twice with
/// different arguments, or with one that is no number of seconds, what makes the response stale is taken.
/// - SeeAlso: RFC 9111, sections 1.2.2, 4.2.1, 5.2 and 5.4; RFC 5861; RFC 8246.
public struct CacheControl: Sendable, Hashable {
    /// Seconds; more than 2³¹ count as 2³¹.
    public typealias Seconds = Int

    /// The most seconds that count.
    static let maximumSeconds = 1 << 31

    /// `max-age`; 0 where it cannot be understood.
    public let maxAge: Seconds?
    /// `no-store`: nothing of it may be kept.
    public let noStore: Bool
    /// `no-cache`, with field names or without: it must be validated before each use.
    public let noCache: Bool
    /// `must-revalidate`: it must not be used stale, not even when the origin cannot be reached.
    public let mustRevalidate: Bool
    /// `private`, with field names or without: not for caches that several users share.
    public let isPrivate: Bool
    /// `public`: may be kept where it otherwise might not.
    public let isPublic: Bool
    /// `must-understand`: `no-store` does not count where the status is understood.
    public let mustUnderstand: Bool
    /// `immutable`: need not be validated while it is fresh, even when the user reloads.
    public let isImmutable: Bool
    /// `stale-while-revalidate`; 0 where it cannot be understood.
    public let staleWhileRevalidate: Seconds?
    /// `stale-if-error`; 0 where it cannot be understood.
    public let staleIfError: Seconds?
    /// `only-if-cached`, in a request: answer from the cache or not at all.
    public let onlyIfCached: Bool
    /// `max-stale`, in a request: so much staleness is accepted; 2³¹ seconds where it has no argument.
    public let maxStale: Seconds?
    /// `min-fresh`, in a request: it must stay fresh for so long.
    public let minFresh: Seconds?

    /// Reads the directives of all `Cache-Control` fields; of `Pragma: no-cache` where there is none.
    public init(_ fields: [HTTPField]) {
        let directives = Directives(fields)
        maxAge = directives.seconds(of: "max-age")
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
        maxStale =
            directives.arguments(of: "max-stale") == [nil] ? Self.maximumSeconds : directives.seconds(of: "max-stale")
        minFresh = directives.seconds(of: "min-fresh")
    }
}

/// Directives by their names, in lower case, with all their arguments.
private struct Directives {
    private var argumentsByName: [String: [String?]] = [:]

    init(_ fields: [HTTPField]) {
        let values = fields.values(of: "cache-control")
        for directive in values.flatMap(\.httpListMembers) {
            let parts = directive.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let argument = parts.count == 2 ? parts[1].httpUnquoted ?? parts[1] : nil
            argumentsByName[parts[0].lowercasedASCII, default: []].append(argument)
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
