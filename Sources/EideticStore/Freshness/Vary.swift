/// The header fields of a request that selected a response.
///
/// - SeeAlso: RFC 9111, section 4.1; RFC 9110, section 12.5.5.
public enum Vary: Sendable, Hashable {
    /// The selecting header fields, in lower case and sorted; empty if the response suits every request.
    case fields([String])
    /// `*`: the response suits no other request.
    case everything

    /// Parses all `Vary` fields of a response.
    public init(_ response: [HTTPField]) {
        let names = response.values(of: "vary").flatMap(\.httpListMembers).map(\.lowercasedASCII)
        self = names.contains("*") ? .everything : .fields(Set(names).sorted())
    }

    /// Returns the selecting header fields of a request, to be stored with the response.
    public func selectingFields(from request: [HTTPField]) -> [HTTPField] {
        guard case .fields(let names) = self else { return [] }
        return names.compactMap { name in
            Self.normalizedValue(of: name, in: request).map { HTTPField(name: name, value: $0) }
        }
    }

    /// Returns `true` if a response to the request with the fields `stored` suits `request`.
    ///
    /// Each selecting field must be absent from both or have the same value in both. White space around commas, and the
    /// split of a list into several fields, are ignored.
    public func matches(_ request: [HTTPField], stored: [HTTPField]) -> Bool {
        guard case .fields(let names) = self else { return false }
        return names.allSatisfy {
            Self.normalizedValue(of: $0, in: request) == Self.normalizedValue(of: $0, in: stored)
        }
    }

    private static func normalizedValue(of name: String, in fields: [HTTPField]) -> String? {
        let values = fields.values(of: name)
        return values.isEmpty ? nil : values.flatMap(\.httpListMembers).joined(separator: ", ")
    }
}
