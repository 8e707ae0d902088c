internal import EideticCore

/// The validators of a stored response.
public struct Validators: Sendable, Hashable {
    /// The `ETag`, if there is exactly one and it is well-formed.
    public let entityTag: EntityTag?
    /// The `Last-Modified` field value, if it is a valid date.
    public let lastModified: String?
    /// A Boolean value indicating whether the date identifies the bytes: it is at least a second older than the
    /// response.
    public let isLastModifiedStrong: Bool

    /// Extracts the validators of a response.
    public init(_ response: [HTTPField]) {
        let tags = response.values(of: "etag")
        entityTag = tags.count == 1 ? EntityTag(tags[0]) : nil
        let text = response.values(of: "last-modified").first
        let changed = text.flatMap { HTTPDate.parse($0) }
        lastModified = changed == nil ? nil : text
        let date = response.values(of: "date").first.flatMap { HTTPDate.parse($0) }
        isLastModifiedStrong = if let changed, let date { date - changed >= .seconds(1) } else { false }
    }

    /// A Boolean value indicating whether there is no validator, so that the response cannot be validated.
    public var isEmpty: Bool { entityTag == nil && lastModified == nil }

    /// The header fields of a conditional request that validates the response.
    ///
    /// - SeeAlso: RFC 9111, section 4.3.1.
    public var conditionalFields: [HTTPField] {
        var fields: [HTTPField] = []
        if let entityTag { fields.append(HTTPField(name: "If-None-Match", value: entityTag.text)) }
        if let lastModified { fields.append(HTTPField(name: "If-Modified-Since", value: lastModified)) }
        return fields
    }

    /// The `If-Range` field value for resuming a partial body, which is a strong validator; `nil` if there is none.
    ///
    /// - SeeAlso: RFC 9110, section 13.1.5.
    public var ifRangeValue: String? {
        if let entityTag { return entityTag.isWeak ? nil : entityTag.text }
        return isLastModifiedStrong ? lastModified : nil
    }
}
