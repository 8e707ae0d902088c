import EideticCore

/// The validators of a response.
package struct Validators: Sendable, Hashable {
    /// The time between `Last-Modified` and `Date` from which on a modification date identifies the bytes.
    ///
    /// A file may change twice within a second, and the two dates may be of different clocks.
    /// - SeeAlso: RFC 9110, section 8.8.2.2.
    private static let strongDateMargin = Duration.seconds(60)

    /// The first `ETag`, as in browsers; `nil` for an empty one, for one that no request may contain, and for `*`,
    /// which as a condition is any tag.
    package let entityTag: EntityTag?
    /// The `Last-Modified` field value as it was received, which need not be a date.
    package let lastModified: String?
    /// A Boolean value indicating whether the date identifies the bytes: it is at least a minute older than the
    /// response.
    private let isLastModifiedStrong: Bool
    private let entityTagCount: Int
    /// A Boolean value indicating whether the server may have several responses of the same date (`Vary: *`).
    private let isOneOfMany: Bool

    package init(_ response: [HTTPField]) {
        let tags = response.values(of: "etag")
        let tag = tags.first.flatMap { ["", "*"].contains($0) || $0.containsControlCharacter ? nil : $0 }
        entityTag = tag.map { EntityTag($0) }
        entityTagCount = tags.count
        isOneOfMany = Vary(response) == .everything
        lastModified = response.values(of: "last-modified").first { !$0.isEmpty && !$0.containsControlCharacter }
        let changed = lastModified.flatMap { HTTPDate.parse($0) }
        let date = response.values(of: "date").first.flatMap { HTTPDate.parse($0) }
        isLastModifiedStrong = if let changed, let date { date - changed >= Self.strongDateMargin } else { false }
    }

    /// The header fields of a conditional request that validates the response; none without a validator.
    ///
    /// Validators are sent back byte for byte: only their server knows what they mean. The date of a response with
    /// `Vary: *` is not sent, as in browsers: it does not tell one variant from another.
    /// - SeeAlso: RFC 9111, section 4.3.1.
    package var conditionalFields: [HTTPField] {
        var fields: [HTTPField] = []
        if let entityTag { fields.append(HTTPField(name: "If-None-Match", value: entityTag.text)) }
        if let lastModified, !isOneOfMany { fields.append(HTTPField(name: "If-Modified-Since", value: lastModified)) }
        return fields
    }

    /// The strong validator, which proves that two bodies are equal byte for byte; `nil` if there is none.
    ///
    /// It is the value of `If-Range` for resuming a partial body.
    /// - SeeAlso: RFC 9110, sections 8.8 and 13.1.5.
    package var strongValidator: String? {
        if entityTagCount > 0 {
            return entityTag.flatMap { entityTagCount == 1 && $0.isWellFormed && !$0.isWeak ? $0.text : nil }
        }
        return isLastModifiedStrong ? lastModified : nil
    }
}
