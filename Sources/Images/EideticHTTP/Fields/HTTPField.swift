/// A header field of an HTTP message.
package typealias HTTPField = HTTPHeaders.Field

extension [HTTPHeaders.Field] {
    /// Returns all values of a field, in order; names are compared without regard to case.
    package func values(of name: String) -> [String] {
        filter { HTTPHeaders.isSameName($0.name, name) }.map { $0.value.trimmingOptionalWhitespace }
    }

    /// Returns the values of a field combined with commas, or `nil` if there is no such field.
    package func combinedValue(of name: String) -> String? {
        let values = values(of: name)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}
