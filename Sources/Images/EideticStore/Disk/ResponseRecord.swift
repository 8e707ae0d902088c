package import EideticCore
package import EideticHTTP

/// The facts about a stored response that are not in its header fields.
///
/// An entry that the application stores has none, and counts as a response with status 200 that was requested and
/// received when it was stored.
package struct ResponseRecord: Sendable, Hashable {
    package var status = 200
    /// The time of the request; `nil` for the time at which the entry was stored.
    package var requestTime: Timestamp?
    /// The time of the response; `nil` for the time at which the entry was stored.
    package var responseTime: Timestamp?
    /// The time after the response for which the redirects that led to it are fresh; `nil` without redirects.
    package var redirectLifetime: Duration?
    /// A Boolean value indicating whether a redirect must not be used stale.
    package var mustRevalidateRedirects = false
    /// The checksum of the URL that redirects led to; 0 without redirects.
    package var effectiveURL: UInt64 = 0
    /// The number that the keys of the other variants of this response contain; 0 without variants.
    package var variants: UInt64 = 0
    /// The digest of the selecting fields of the request; empty if there are none.
    package var selectingDigest = ""
    /// A Boolean value indicating whether the response depends on fields that are no part of the image's identity, so
    /// that memory must not have the image.
    package var dependsOnHooks = false
    /// The text of the image's placeholder; empty if none was made.
    package var placeholder = ""
    /// The time at which the bytes replaced others; `nil` if the disk knew none.
    package var replacementTime: Timestamp?

    /// Creates the record of an entry of which nothing is known.
    package init() {}

    /// Returns the record of a confirmation with those facts of the confirmed entry that do not change.
    package func keepingEntry(of stored: ResponseRecord) -> ResponseRecord {
        var record = self
        record.variants = stored.variants
        record.selectingDigest = stored.selectingDigest
        record.dependsOnHooks = dependsOnHooks || stored.dependsOnHooks
        record.placeholder = stored.placeholder
        record.replacementTime = stored.replacementTime
        return record
    }

    /// The limit that the redirects set to the use of the response.
    package var limit: ResponseFreshness.Limit? {
        redirectLifetime.map { .init(lifetime: $0, mustRevalidate: mustRevalidateRedirects) }
    }
}

extension DiskCache.Metadata {
    /// The stored response as a cache sees it.
    package var storedResponse: ResponseFreshness.Response {
        ResponseFreshness.Response(
            status: response.status,
            fields: headers,
            requestTime: response.requestTime ?? storageTime,
            responseTime: response.responseTime ?? storageTime
        )
    }
}
