/// The directives of `Cache-Control` fields, of a response or of a request.
///
/// Unknown directives are ignored. An argument may stand in quotes or not. Of a directive that stands twice with
/// different arguments, or with one that is no number of seconds, what makes the response stale is taken.
/// - SeeAlso: RFC 9111, sections 1.2.2, 4.2.1, 5.2 and 5.4; RFC 5861; RFC 8246.
public struct CacheControl: Sendable, Hashable {
    /// Seconds; more than 2³¹ count as 2³¹.
    public typealias Seconds = Int

    /// The most seconds that count.
    static let most = 1 << 31

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
        let found = Directives(fields)
        maxAge = found.seconds("max-age")
        noStore = found.has("no-store")
        noCache = found.has("no-cache")
        mustRevalidate = found.has("must-revalidate")
        isPrivate = found.has("private")
        isPublic = found.has("public")
        mustUnderstand = found.has("must-understand")
        isImmutable = found.has("immutable")
        staleWhileRevalidate = found.seconds("stale-while-revalidate")
        staleIfError = found.seconds("stale-if-error")
        onlyIfCached = found.has("only-if-cached")
        maxStale = found.arguments("max-stale") == [nil] ? Self.most : found.seconds("max-stale")
        minFresh = found.seconds("min-fresh")
    }
}

/// Directives by their names, in lower case, with all their arguments.
private struct Directives {
    private var found: [String: [String?]] = [:]

    init(_ fields: [HTTPField]) {
        let values = fields.values(of: "cache-control")
        for directive in values.flatMap(\.httpList) {
            let parts = directive.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let argument = parts.count == 2 ? parts[1].httpUnquoted ?? parts[1] : nil
            found[parts[0].lowercasedASCII, default: []].append(argument)
        }
        if values.isEmpty,
            fields.values(of: "pragma").contains(where: { $0.lowercasedASCII.httpList.contains("no-cache") })
        {
            found["no-cache"] = [nil]
        }
    }

    func has(_ name: String) -> Bool { found[name] != nil }

    func arguments(_ name: String) -> [String?] { found[name] ?? [] }

    func seconds(_ name: String) -> Int? {
        guard let arguments = found[name], let first = arguments.first else { return nil }
        guard Set(arguments).count == 1, let seconds = first?.httpNumber else { return 0 }
        return min(seconds, CacheControl.most)
    }
}
