/// The fields of an HTTP head: names without regard to case, order kept, a name may stand more than once.
///
/// Two values are equal where each name has the same values in the same order; the order of different names does
/// not matter.
///
/// - SeeAlso: RFC 9110, section 5.
public struct HTTPHeaders: Sendable {
    /// One field.
    public struct Field: Sendable, Hashable {
        /// The name as it was written.
        public let name: String
        /// The value, without white space around it.
        public let value: String

        /// Creates a field.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// All fields in their order.
    public private(set) var fields: [Field]

    /// Creates a head with `fields`; empty by default.
    public init(_ fields: [Field] = []) { self.fields = fields }

    /// A head with room for so many fields.
    init(capacity: Int) {
        fields = []
        fields.reserveCapacity(capacity)
    }

    /// Whether there is no field.
    public var isEmpty: Bool { fields.isEmpty }

    /// The value for `name`; several are joined by a comma, as the standard allows.
    ///
    /// Setting replaces every field of that name; `nil` removes them.
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

    /// Every value for `name`, in order.
    public func values(for name: String) -> [String] {
        fields.filter { Self.isSameName($0.name, name) }.map { $0.value }
    }

    /// Adds a field and keeps those of the same name.
    public mutating func add(_ name: String, for value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// These fields, with those of `other` in place of the ones that have the same name.
    public func merging(_ overrides: HTTPHeaders) -> HTTPHeaders {
        if overrides.isEmpty { return self }
        let remaining = fields.filter { field in !overrides.fields.contains { Self.isSameName($0.name, field.name) } }
        return HTTPHeaders(remaining + overrides.fields)
    }

    /// The fields whose name passes `isKept`.
    func filter(_ isIncluded: (String) -> Bool) -> HTTPHeaders { HTTPHeaders(fields.filter { isIncluded($0.name) }) }

    /// Compares names as HTTP does: ASCII letters without regard to case.
    package static func isSameName(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        return left == right || left.utf8.elementsEqual(right.utf8) { lowercased($0) == lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5a).contains(byte) ? byte | 0x20 : byte }

    /// The fields by lower-case name: what equality and hash look at.
    package var canonicalFields: [String: [String]] {
        Dictionary(grouping: fields) { $0.name.lowercased() }.mapValues { $0.map(\.value) }
    }
}

extension HTTPHeaders: Hashable {
    /// Whether each name has the same values.
    public static func == (left: HTTPHeaders, right: HTTPHeaders) -> Bool {
        left.fields == right.fields || left.canonicalFields == right.canonicalFields
    }

    /// Feeds the values, without regard to the order of names.
    public func hash(into hasher: inout Hasher) { hasher.combine(fields.isEmpty ? [:] : canonicalFields) }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// Creates a head from a literal; a name may stand more than once.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements.map { Field(name: $0.0, value: $0.1) })
    }
}
