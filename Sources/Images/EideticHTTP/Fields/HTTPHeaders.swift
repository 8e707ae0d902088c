package import EideticCore

/// The fields of an HTTP header section, in order and with case-insensitive names.
///
/// A name may occur more than once. Two header sections are equal if each name has the same values in the same order;
/// the order of different names does not matter.
///
/// - SeeAlso: RFC 9110, section 5.
public struct HTTPHeaders: Sendable {
    /// A header field.
    public struct Field: Sendable, Hashable {
        /// The name, in its original case.
        public var name: String
        /// The value, without surrounding white space.
        public var value: String

        /// Creates a field.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }

        /// Returns a Boolean value indicating whether two fields have the same bytes.
        public static func == (left: Field, right: Field) -> Bool {
            left.name.hasSameBytes(as: right.name) && left.value.hasSameBytes(as: right.value)
        }
    }

    /// All fields, in order.
    public private(set) var fields: [Field]

    /// Creates a header section; empty by default.
    public init(_ fields: [Field] = []) { self.fields = fields }

    /// Creates an empty header section with space for `capacity` fields.
    package init(capacity: Int) {
        fields = []
        fields.reserveCapacity(capacity)
    }

    /// A Boolean value indicating whether there are no fields.
    public var isEmpty: Bool { fields.isEmpty }

    /// The value of the field `name`, with several values joined by commas.
    ///
    /// Setting a value replaces all fields of that name; setting `nil` removes them.
    ///
    /// - Complexity: O(*n*) in the number of fields.
    public subscript(name: String) -> String? {
        get {
            var result: String?
            for field in fields where Self.isSameName(field.name, name) {
                if result == nil { result = field.value } else { result?.append(", \(field.value)") }
            }
            return result
        }
        set {
            fields.removeAll { Self.isSameName($0.name, name) }
            if let newValue { fields.append(Field(name: name, value: newValue)) }
        }
    }

    /// Returns all values of the field `name`, in order.
    public func values(for name: String) -> [String] {
        fields.compactMap { Self.isSameName($0.name, name) ? $0.value : nil }
    }

    /// Adds a value for the field `name`; existing values stay.
    public mutating func add(_ value: String, for name: String) {
        fields.append(Field(name: name, value: value))
    }

    /// Appends text to the value of the last field, after a space.
    package mutating func appendToLastField(_ text: String) {
        guard let last = fields.indices.last, !text.isEmpty else { return }
        fields[last].value += fields[last].value.isEmpty ? text : " \(text)"
    }

    /// Returns these fields, in which the fields of `overrides` replace all fields of the same names.
    package func merging(_ overrides: HTTPHeaders) -> HTTPHeaders {
        if overrides.isEmpty { return self }
        let remaining = fields.filter { field in
            !overrides.fields.contains { Self.isSameName($0.name, field.name) }
        }
        return HTTPHeaders(remaining + overrides.fields)
    }

    /// Returns the fields whose name satisfies a predicate.
    package func filter(_ isIncluded: (String) -> Bool) -> HTTPHeaders {
        HTTPHeaders(fields.filter { isIncluded($0.name) })
    }

    /// Compares two names of fields, with ASCII letters of either case equal.
    package static func isSameName(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        let isSame = left.utf8.withContiguousStorageIfAvailable { left -> Bool? in
            right.utf8.withContiguousStorageIfAvailable { right in
                left.indices.allSatisfy { left[$0] == right[$0] || lowercased(left[$0]) == lowercased(right[$0]) }
            }
        }
        return (isSame ?? nil) ?? left.utf8.elementsEqual(right.utf8) { lowercased($0) == lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5a).contains(byte) ? byte | 0x20 : byte }

    /// The values by lower-case name, on which the hash is based.
    package var canonicalFields: [String: [String]] {
        Dictionary(grouping: fields) { $0.name.lowercased() }.mapValues { $0.map(\.value) }
    }

    /// Checks the fields against header injection.
    ///
    /// - Throws: `invalidArgument` for a name that is not a token, or a value with a control character.
    package func validate() throws(EideticError) {
        for field in fields {
            guard field.name.isHTTPToken else {
                throw EideticError(
                    .invalidArgument,
                    message: "\"\(field.name)\" is not a valid name of a header field"
                )
            }
            guard !field.value.containsControlCharacter else {
                throw EideticError(
                    .invalidArgument,
                    message: "the value of the header field \(field.name) contains a control character"
                )
            }
        }
    }

    /// Checks the fields of a request.
    ///
    /// - Throws: The error of ``validate()``; `invalidArgument` for a field with which others would find another end of
    ///   the request.
    package func validateForRequest() throws(EideticError) {
        try validate()
        if let field = fields.first(where: {
            ["content-length", "transfer-encoding"].contains($0.name.lowercasedASCII)
        }) {
            throw EideticError(
                .invalidArgument,
                message: "the header field \(field.name) cannot be set; the length of a request is that of its body"
            )
        }
    }

    /// The error of ``validateForRequest()``; `nil` if all fields are valid.
    package var requestError: EideticError? {
        do throws(EideticError) {
            try validateForRequest()
            return nil
        } catch {
            return error
        }
    }
}

extension HTTPHeaders: Hashable {
    /// Returns a Boolean value indicating whether two header sections have the same values for each name, byte for
    /// byte.
    public static func == (left: HTTPHeaders, right: HTTPHeaders) -> Bool {
        left.fields == right.fields || left.hasSameValues(as: right)
    }

    private func hasSameValues(as other: HTTPHeaders) -> Bool {
        guard fields.count == other.fields.count else { return false }
        return fields.allSatisfy { field in
            let (values, others) = (self.values(for: field.name), other.values(for: field.name))
            return values.count == others.count && zip(values, others).allSatisfy { $0.hasSameBytes(as: $1) }
        }
    }

    /// Feeds the values into the hasher, regardless of the order of names.
    public func hash(into hasher: inout Hasher) { hasher.combine(fields.isEmpty ? [:] : canonicalFields) }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// Creates a header section from a dictionary literal; a name may occur more than once.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements.map { Field(name: $0.0, value: $0.1) })
    }
}

/// A header field of an HTTP message.
package typealias HTTPField = HTTPHeaders.Field

extension [HTTPHeaders.Field] {
    /// Returns all values of a field, in order; names are compared without regard to case.
    package func values(of name: String) -> [String] {
        compactMap { HTTPHeaders.isSameName($0.name, name) ? $0.value.trimmingOptionalWhitespace : nil }
    }

    /// Returns the values of a field combined with commas, or `nil` if there is no such field.
    package func combinedValue(of name: String) -> String? {
        let values = values(of: name)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}

extension String {
    /// A Boolean value indicating whether the text is a token (RFC 9110, section 5.6.2).
    package var isHTTPToken: Bool { !isEmpty && utf8.allSatisfy(Self.isTokenByte) }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    /// A Boolean value indicating whether the text has a character that no value of a field may have: a control
    /// character other than a tab.
    ///
    /// - SeeAlso: RFC 9110, section 5.5.
    package var containsControlCharacter: Bool { utf8.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f } }
}
