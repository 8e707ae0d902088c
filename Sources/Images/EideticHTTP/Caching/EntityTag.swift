/// An entity tag: an identifier of one representation of a resource.
///
/// - SeeAlso: RFC 9110, section 8.8.3.
package struct EntityTag: Sendable, Hashable {
    /// A Boolean value indicating whether the tag is weak: it may be shared by equivalent representations.
    package let isWeak: Bool
    /// The opaque tag, without its quotes.
    package let opaqueTag: String

    /// Parses `"…"` or `W/"…"`; returns `nil` for any other text.
    package init?(_ text: String) {
        let text = text.trimmingOptionalWhitespace
        isWeak = text.hasPrefix("W/")
        let quoted = isWeak ? text.dropFirst(2) : text[...]
        guard quoted.utf8.count >= 2, quoted.utf8.first == UInt8(ascii: "\""), quoted.utf8.last == UInt8(ascii: "\"")
        else { return nil }
        opaqueTag = String(quoted.dropFirst().dropLast())
        guard opaqueTag.utf8.allSatisfy({ $0 == 0x21 || ($0 >= 0x23 && $0 != 0x7f) }) else { return nil }
    }

    /// The tag as a field value.
    package var text: String { "\(isWeak ? "W/" : "")\"\(opaqueTag)\"" }

    /// Returns `true` if both tags identify equivalent representations.
    package func weaklyMatches(_ other: EntityTag) -> Bool { opaqueTag == other.opaqueTag }
}
