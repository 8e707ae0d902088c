/// A value in a message of D-Bus, of the types that the services in use exchange.
package indirect enum BusValue: Sendable, Hashable {
    case string(String)
    case objectPath(String)
    case boolean(Bool)
    case byte(UInt8)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    /// An array of bytes.
    case bytes([UInt8])
    /// An array of elements with this signature.
    case array(signature: String, [BusValue])
    case structure([BusValue])
    case dictionaryEntry(BusValue, BusValue)
    case variant(BusValue)
    /// A value of another type, which is not read.
    case unsupported

    /// A dictionary from names to values of any type.
    package static func dictionary(_ values: [(String, BusValue)]) -> BusValue {
        .array(signature: "{sv}", values.map { .dictionaryEntry(.string($0), .variant($1)) })
    }

    package var text: String? {
        switch self {
        case .string(let text), .objectPath(let text): text
        case .variant(let value): value.text
        default: nil
        }
    }

    package var number: UInt32? {
        switch self {
        case .uint32(let number): number
        case .variant(let value): value.number
        default: nil
        }
    }

    package var real: Double? {
        switch self {
        case .double(let number): number
        case .variant(let value): value.real
        default: nil
        }
    }

    /// The value of a name in a dictionary; `nil` if there is none.
    package subscript(name: String) -> BusValue? {
        guard case .array(_, let entries) = self else { return nil }
        for case .dictionaryEntry(.string(name), let value) in entries {
            if case .variant(let inner) = value { return inner }
            return value
        }
        return nil
    }

    /// The type as D-Bus writes it.
    var signature: String {
        switch self {
        case .string: "s"
        case .objectPath: "o"
        case .boolean: "b"
        case .byte: "y"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .bytes: "ay"
        case .array(let signature, _): "a\(signature)"
        case .structure(let members): "(\(members.map(\.signature).joined()))"
        case .dictionaryEntry(let key, let value): "{\(key.signature)\(value.signature)}"
        case .variant: "v"
        case .unsupported: "v"
        }
    }
}
