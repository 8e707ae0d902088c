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
    package var isWeak: Bool { text.utf8.starts(with: "W/".utf8) || text.utf8.starts(with: "w/".utf8) }

    /// The opaque tag, without the quotes that it should have.
    package var opaqueTag: String {
        let quoted = text.utf8.dropFirst(isWeak ? 2 : 0)
        return String(Substring(Self.isQuoted(quoted) ? quoted.dropFirst().dropLast() : quoted))
    }

    /// A Boolean value indicating whether the text is `"…"` or `W/"…"`.
    package var isWellFormed: Bool {
        let quoted = text.utf8.dropFirst(text.utf8.starts(with: "W/".utf8) ? 2 : 0)
        return Self.isQuoted(quoted)
            && quoted.dropFirst().dropLast().allSatisfy { $0 == 0x21 || ($0 >= 0x23 && $0 != 0x7f) }
    }

    /// Returns `true` if both tags identify equivalent representations.
    package func weaklyMatches(_ other: EntityTag) -> Bool { opaqueTag.hasSameBytes(as: other.opaqueTag) }

    private static func isQuoted(_ bytes: Substring.UTF8View) -> Bool {
        bytes.count >= 2 && bytes.first == UInt8(ascii: "\"") && bytes.last == UInt8(ascii: "\"")
    }
}
