internal import EideticCore

/// The name that an origin gives to one state of a resource.
///
/// - SeeAlso: RFC 9110, section 8.8.3.
public struct EntityTag: Sendable, Hashable {
    /// Whether it may name states that differ in what does not matter.
    public let isWeak: Bool
    /// The text between the quotes.
    public let opaqueTag: String

    /// Reads `"…"` or `W/"…"`; `nil` where the text is neither.
    public init?(_ text: String) {
        let text = text.trimmingOptionalWhitespace
        isWeak = text.hasPrefix("W/")
        let quoted = isWeak ? text.dropFirst(2) : text[...]
        guard quoted.utf8.count >= 2, quoted.utf8.first == UInt8(ascii: "\""), quoted.utf8.last == UInt8(ascii: "\"")
        else { return nil }
        opaqueTag = String(quoted.dropFirst().dropLast())
        guard opaqueTag.utf8.allSatisfy({ $0 == 0x21 || ($0 >= 0x23 && $0 != 0x7f) }) else { return nil }
    }

    /// As it stands in a field.
    public var text: String { "\(isWeak ? "W/" : "")\"\(opaqueTag)\"" }

    /// Whether both name the same bytes.
    public func stronglyMatches(_ other: EntityTag) -> Bool { !isWeak && !other.isWeak && opaqueTag == other.opaqueTag }

    /// Whether both name states that can stand for each other.
    public func weaklyMatches(_ other: EntityTag) -> Bool { opaqueTag == other.opaqueTag }
}

/// By what a stored response can be validated.
public struct Validators: Sendable, Hashable {
    /// The `ETag`, if there is a well-formed one.
    public let entityTag: EntityTag?
    /// The `Last-Modified` date as it was written, if it is a date.
    public let lastModified: String?
    /// Whether the date names the bytes: it is at least a second older than the response.
    public let isLastModifiedStrong: Bool

    /// Reads the validators of a response.
    public init(_ response: [HTTPField]) {
        let tags = response.values(of: "etag")
        entityTag = tags.count == 1 ? EntityTag(tags[0]) : nil
        let text = response.values(of: "last-modified").first
        let changed = text.flatMap { HTTPDate.parse($0) }
        lastModified = changed == nil ? nil : text
        let date = response.values(of: "date").first.flatMap { HTTPDate.parse($0) }
        isLastModifiedStrong = if let changed, let date { date - changed >= .seconds(1) } else { false }
    }

    /// Whether there is nothing to validate by: the whole response has to be asked for again.
    public var isEmpty: Bool { entityTag == nil && lastModified == nil }

    /// The fields that make a request ask whether the response is still good.
    ///
    /// - SeeAlso: RFC 9111, section 4.3.1.
    public var conditionalFields: [HTTPField] {
        var fields: [HTTPField] = []
        if let entityTag { fields.append(HTTPField(name: "If-None-Match", value: entityTag.text)) }
        if let lastModified { fields.append(HTTPField(name: "If-Modified-Since", value: lastModified)) }
        return fields
    }

    /// What `If-Range` may say to go on with a partial body: a strong validator; `nil` where there is none.
    ///
    /// - SeeAlso: RFC 9110, section 13.1.5.
    public var ifRangeValue: String? {
        if let entityTag { return entityTag.isWeak ? nil : entityTag.text }
        return isLastModifiedStrong ? lastModified : nil
    }
}
