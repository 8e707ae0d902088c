/// A URL that an application is asked to open.
///
/// Its description is for logs: it has no query, no fragment, no name and no password.
package struct IncomingURL: Sendable, Hashable, CustomStringConvertible {
    /// The identifier to which the answer refers; unique for the application.
    package let id: UInt64
    package let text: String
    /// The identifier of the supervised application that asks; `nil` for any other program.
    package let source: String?

    package init(_ text: String, id: UInt64, source: String? = nil) {
        self.text = text
        self.id = id
        self.source = source
    }

    /// The result of a request to open a URL; each request has one.
    package enum Outcome: Sendable, Hashable {
        case handled
        /// The application does not open URLs of this kind.
        case notHandled
        /// The application was not asked.
        case refused(LifecycleEffect.Refusal)
    }

    /// The number of bytes of a URL in a log.
    private static let descriptionLength = 200

    package var description: String {
        let visible = text.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let slashes = "/\\\t\r\n".utf8
        let colon = visible.firstIndex(of: UInt8(ascii: ":")) ?? visible.startIndex
        // As in "https://user:password@host/path", with any number of slashes.
        let rest = visible[colon...].dropFirst().drop { slashes.contains($0) }
        let hasAuthority =
            visible[colon...].count > rest.count + 1 || visible[..<colon].elementsEqual("http".utf8)
            || visible[..<colon].elementsEqual("https".utf8)
        // A password may have a backslash.
        let authority = rest.prefix { $0 != UInt8(ascii: "/") }
        // The path of mailto: has an address.
        let isAddress = !hasAuthority && !authority.contains(UInt8(ascii: ":"))
        let sign = isAddress ? nil : authority.lastIndex(of: UInt8(ascii: "@"))
        let shown = Array(visible[..<rest.startIndex]) + (sign.map { rest[$0...].dropFirst() } ?? rest)
        return String(decoding: shown.prefix(Self.descriptionLength), as: UTF8.self)
    }
}
