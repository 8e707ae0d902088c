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
        let visible = text.prefix { $0 != "?" && $0 != "#" }
        var parts = visible.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        // As in "https:", "", "user:password@host", "path".
        if parts.count > 2, parts[1].isEmpty, let sign = parts[2].lastIndex(of: "@") {
            parts[2] = String(parts[2][parts[2].index(after: sign)...])
        }
        return String(decoding: parts.joined(separator: "/").utf8.prefix(Self.descriptionLength), as: UTF8.self)
    }
}
