import EideticCore

/// The constants of the connection between an application and its supervisor.
///
/// One packet is one message: a byte for its kind, then its values. The application speaks first, with `hello`; the
/// supervisor answers with `welcome`, whose packet has the descriptor of the ``SharedPage``. One lifecycle callback
/// is under way at a time. Deadlines are durations since the start of `CLOCK_MONOTONIC`.
package enum SupervisionProtocol {
    /// The version of the messages; a peer with another one is refused.
    package static let version: UInt16 = 3
    /// The environment variable with the number of the inherited descriptor.
    package static let descriptorVariable = "EIDETIC_SUPERVISOR"
    /// The name of the socket in the runtime directory.
    package static let socketName = "supervisor"

    /// The limits of texts, in bytes, and of lists, in elements.
    package static let identifierLimit = 255
    package static let textLimit = 1_024
    package static let urlLimit = 32_768
    package static let pathLimit = 4_096
    package static let listLimit = 1_024
    package static let tokenLength = 16
}

extension WireReader {
    /// Reads a set of cases of an enumeration of one byte.
    mutating func set<Value: RawRepresentable & Hashable>(
        of type: Value.Type
    ) throws(WireError) -> Set<Value> where Value.RawValue == UInt8 {
        let numbers = try list(limit: 64) { (reader) throws(WireError) in try reader.integer(UInt8.self) }
        // What another version has declared, and this one does not know, is never asked for.
        return Set(numbers.compactMap { Value(rawValue: $0) })
    }
}

extension WireWriter {
    mutating func append<Value: RawRepresentable & Hashable>(set: Set<Value>) where Value.RawValue == UInt8 {
        append(list: set.map(\.rawValue).sorted()) { $0.append($1) }
    }
}
