/// An entity tag: an identifier of one representation of a resource.
///
/// Servers send tags in many forms, such as `abc` and `w/"abc"`. As in browsers, a tag is the text of its field, and is
/// sent back byte for byte.
/// - SeeAlso: RFC 9110, section 8.8.3.
package struct EntityTag: Sendable, Hashable {
    /// The tag as a field value, as it was received.
    package let text: String

    /// Creates the tag with the text of a field.
    package init(_ text: String) { self.text = text.trimmingOptionalWhitespace }

    /// A Boolean value indicating whether the tag is weak: it may be shared by equivalent representations.
    package var isWeak: Bool { text.hasPrefix("W/") || text.hasPrefix("w/") }

    /// The opaque tag, without the quotes that it should have.
    package var opaqueTag: String {
        let quoted = isWeak ? text.dropFirst(2) : text[...]
        guard Self.isQuoted(quoted) else { return String(quoted) }
        return String(quoted.dropFirst().dropLast())
    }

    /// A Boolean value indicating whether the text is `"…"` or `W/"…"`.
    package var isWellFormed: Bool {
        let quoted = text.hasPrefix("W/") ? text.dropFirst(2) : text[...]
        return Self.isQuoted(quoted)
            && quoted.utf8.dropFirst().dropLast().allSatisfy { $0 == 0x21 || ($0 >= 0x23 && $0 != 0x7f) }
    }

    /// Returns `true` if both tags identify equivalent representations.
    package func weaklyMatches(_ other: EntityTag) -> Bool { opaqueTag.hasSameBytes(as: other.opaqueTag) }

    private static func isQuoted(_ text: Substring) -> Bool {
        text.utf8.count >= 2 && text.utf8.first == UInt8(ascii: "\"") && text.utf8.last == UInt8(ascii: "\"")
    }
}
