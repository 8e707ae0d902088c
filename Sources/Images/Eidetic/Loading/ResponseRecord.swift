import EideticCodecs
import EideticCore
import EideticHTTP
import EideticStore

/// The facts about a stored response that are not in its header fields, as the disk stores them.
///
/// They are one line of text in the extended data of an entry. An entry without it, as earlier versions and the
/// application write, counts as a response with status 200 that was requested and received when it was stored.
struct ResponseRecord: Sendable, Hashable {
    /// The status.
    var status = 200
    /// The times of the request and the response; `nil` for the time at which the entry was stored.
    var requestTime, responseTime: Timestamp?
    /// The time after the response for which the redirects that led to it are fresh; `nil` without redirects.
    var redirectLifetime: Duration?
    /// A Boolean value indicating whether a redirect must not be used stale.
    var mustRevalidateRedirects = false
    /// The checksum of the URL that redirects led to; 0 without redirects.
    var effectiveURL: UInt64 = 0
    /// The number that the keys of the other variants of this response contain; 0 without variants.
    var variants: UInt64 = 0
    /// The digest of the selecting fields of the request; empty if there are none.
    var selectingDigest = ""
    /// A Boolean value indicating whether the response depends on fields that are no part of the image's identity, so
    /// that memory must not have the image.
    var dependsOnHooks = false
    /// The placeholder of the image; `nil` if none was made.
    var placeholder: ImagePlaceholder?
    /// The time at which the bytes replaced others; `nil` if the disk knew none.
    var replacementTime: Timestamp?

    private static let marker = "eidetic-http-1"

    init() {}

    /// Creates the record in the extended data of an entry.
    init(_ metadata: DiskCache.Metadata) {
        let text = String(decoding: metadata.extendedData.prefix(512), as: UTF8.self)
        let parts = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 10 || parts.count == 11, parts[0] == Self.marker, let status = Int(parts[1]),
            let request = Int64(parts[2]),
            let response = Int64(parts[3]), let effectiveURL = UInt64(parts[6]), let variants = UInt64(parts[7])
        else { return }
        self.status = status
        (requestTime, responseTime) = (Self.time(request), Self.time(response))
        redirectLifetime = Int64(parts[4]).map { .nanoseconds($0) }
        (mustRevalidateRedirects, dependsOnHooks) = (parts[5].contains("m"), parts[5].contains("h"))
        (self.effectiveURL, self.variants, selectingDigest) = (effectiveURL, variants, parts[8])
        placeholder = ImagePlaceholder(word: parts[9])
        replacementTime = parts.count == 11 ? Int64(parts[10]).flatMap(Self.time) : nil
    }

    /// Returns a time; `nil` for 0, as which an unknown one is stored.
    private static func time(_ nanoseconds: Int64) -> Timestamp? {
        nanoseconds == 0 ? nil : Timestamp(nanoseconds: nanoseconds)
    }

    /// The record as the extended data of an entry.
    var encoded: [UInt8] {
        let flags =
            (mustRevalidateRedirects ? "m" : "") + (dependsOnHooks ? "h" : "") + "-"
        let lifetime = redirectLifetime.map { "\($0.inNanoseconds)" } ?? "-"
        let parts =
            [
                Self.marker, "\(status)", "\(requestTime?.nanoseconds ?? 0)", "\(responseTime?.nanoseconds ?? 0)",
                lifetime,
                flags, "\(effectiveURL)", "\(variants)", selectingDigest,
                placeholder?.word ?? "",
            ] + (replacementTime.map { ["\($0.nanoseconds)"] } ?? [])
        return Array(parts.joined(separator: " ").utf8)
    }

    /// Returns the record of a confirmation with those facts of the confirmed entry that do not change.
    func keepingEntry(of stored: ResponseRecord) -> ResponseRecord {
        var record = self
        record.variants = stored.variants
        record.selectingDigest = stored.selectingDigest
        record.dependsOnHooks = dependsOnHooks || stored.dependsOnHooks
        record.placeholder = stored.placeholder
        record.replacementTime = stored.replacementTime
        return record
    }

    /// The limit that the redirects set to the use of the response.
    var limit: ResponseFreshness.Limit? {
        redirectLifetime.map { .init(lifetime: $0, mustRevalidate: mustRevalidateRedirects) }
    }

    /// Returns the stored response with these metadata, as a cache sees it.
    func response(_ metadata: DiskCache.Metadata) -> ResponseFreshness.Response {
        ResponseFreshness.Response(
            status: status,
            fields: metadata.headers,
            requestTime: requestTime ?? metadata.storageTime,
            responseTime: responseTime ?? metadata.storageTime
        )
    }
}

/// An entry on disk with its record.
struct StoredEntry: Sendable {
    /// The entry with the bytes on disk.
    let entry: DiskCache.Entry
    /// The encoded image.
    let bytes: [UInt8]
    let record: ResponseRecord
    /// A Boolean value indicating whether the entry is older than the disk cache's maximum age.
    let isExpired: Bool

    /// Creates the stored entry; without `bytes` those on disk are the encoded image.
    init(_ entry: DiskCache.Entry, bytes: [UInt8]? = nil, isExpired: Bool = false) {
        (self.entry, self.bytes, self.isExpired) = (entry, bytes ?? entry.bytes, isExpired)
        record = ResponseRecord(entry.metadata)
    }

    var fields: [HTTPField] { entry.metadata.headers }

    /// The response as a cache sees it.
    var response: ResponseFreshness.Response { record.response(entry.metadata) }
}
