/// What of a request a response depends on.
///
/// - SeeAlso: RFC 9111, section 4.1; RFC 9110, section 12.5.5.
public enum Vary: Sendable, Hashable {
    /// On these fields of the request, in lower case and in order; on none where it is empty.
    case fields([String])
    /// On more than the request says: it answers no other request.
    case everything

    /// Reads all `Vary` fields of a response.
    public init(_ response: [HTTPField]) {
        let names = response.values(of: "vary").flatMap(\.httpListMembers).map(\.lowercasedASCII)
        self = names.contains("*") ? .everything : .fields(Set(names).sorted())
    }

    /// The part of a request's head that has to be stored beside the response.
    public func selectingFields(from request: [HTTPField]) -> [HTTPField] {
        guard case .fields(let names) = self else { return [] }
        return names.compactMap { name in
            Self.normalizedValue(of: name, in: request).map { HTTPField(name: name, value: $0) }
        }
    }

    /// Whether a response that was made for `stored` answers `request`.
    ///
    /// A field must be there in both or in none, with the same value; white space around commas, and whether a list
    /// stands in one field or in several, do not matter.
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
