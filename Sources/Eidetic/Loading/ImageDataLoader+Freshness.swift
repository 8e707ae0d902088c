import EideticCore
import EideticStore

/// HTTP freshness of responses and disk entries; without it an entry is used until its maximum age.
extension ImageDataLoader {
    /// Returns the time for which a response received now is fresh; `nil` if the server does not limit it.
    func timeToLive(of fields: [HTTPField], for request: ImageRequest) -> Duration? {
        var metadata = DiskCache.Metadata(headers: fields)
        metadata.storageTime = SystemTime().now
        guard let time = timeToLive(of: metadata) else { return nil }
        return Self.isStorable(fields, for: request) ? time : .zero
    }

    /// Returns the time for which an entry is still fresh; `nil` if the server does not limit it.
    func timeToLive(of metadata: DiskCache.Metadata) -> Duration? {
        guard let freshness = freshness(of: metadata) else { return nil }
        guard !freshness.control.noCache else { return .zero }
        return max(.zero, freshness.freshnessLifetime - freshness.currentAge(at: SystemTime().now))
    }

    /// Returns the freshness of an entry; `nil` if the pipeline ignores what the server says of it.
    func freshness(of metadata: DiskCache.Metadata) -> ResponseFreshness? {
        guard case .http(let heuristic) = freshnessPolicy else { return nil }
        let response = ResponseFreshness.Response(
            fields: metadata.headers,
            requestTime: metadata.storageTime,
            responseTime: metadata.storageTime
        )
        return ResponseFreshness(response, heuristic: heuristic)
    }

    /// Returns whether a stale entry may be used although its revalidation failed.
    func allowsStale(_ entry: DiskCache.Entry, after error: EideticError) -> Bool {
        guard error.code != .cancelled, let freshness = freshness(of: entry.metadata) else { return false }
        return freshness.allowsStaleAfterError(at: SystemTime().now, status: error.httpStatus)
    }

    /// Returns whether a response may be stored.
    ///
    /// All header fields of a request are part of its identity, so `Vary` needs no further check. The cookies of the
    /// jar are not, and may be another user's at the next load.
    static func isStorable(_ fields: [HTTPField], for request: ImageRequest) -> Bool {
        if request.usesCookies, case .fields(let names) = Vary(fields), names.contains("cookie") { return false }
        return Storability.isStorable(status: 200, fields: fields)
    }
}
