/// The header fields of a request that selected a response.
///
/// - SeeAlso: RFC 9111, section 4.1; RFC 9110, section 12.5.5.
package enum Vary: Sendable, Hashable {
    /// The selecting header fields, in lower case and sorted; empty if the response suits every request.
    case fields([String])
    /// `*`: the response suits another request only after the server has confirmed it.
    case everything

    /// Parses all `Vary` fields of a response.
    package init(_ response: [HTTPField]) {
        let names = response.values(of: "vary").flatMap(\.httpListMembers).map(\.lowercasedASCII)
        self = names.contains("*") ? .everything : .fields(Set(names).sorted())
    }

    /// The names of the selecting header fields; empty for `*`.
    package var names: Set<String> { if case .fields(let names) = self { Set(names) } else { [] } }

    /// Returns a Boolean value indicating whether a field, with its name in lower case, may select the response.
    func mayDepend(on name: String) -> Bool { self == .everything || names.contains(name) }

    /// Returns the selecting header fields of a request as text.
    ///
    /// A response suits every request with the same text: each selecting field is absent from both requests or has the
    /// same value in both. White space around commas, and the split of a list into several fields, are ignored.
    ///
    /// - Returns: The text; empty if the response suits every request, `nil` for `*`.
    package func selection(from request: [HTTPField]) -> String? {
        guard case .fields(let names) = self else { return nil }
        return names.map { name in "\(name): \(Self.normalizedValue(of: name, in: request) ?? "\n")" }
            .joined(separator: "\n")
    }

    /// Returns a text that equals that of another value exactly if the values match.
    private static func normalizedValue(of name: String, in fields: [HTTPField]) -> String? {
        let values = fields.values(of: name)
        return values.isEmpty ? nil : values.flatMap(\.httpListMembers).joined(separator: ", ")
    }
}
