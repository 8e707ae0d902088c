/// A value in a message of the sound server, as its tag names it.
///
/// - SeeAlso: PulseAudio 16, `src/pulsecore/tagstruct.h`; PipeWire's server for PulseAudio clients speaks the same.
package enum SoundValue: Sendable, Hashable {
    /// A text; `nil` for the one that is none.
    case text(String?)
    case number(UInt64)
    case boolean(Bool)
    /// The properties of a stream or a client.
    case properties([String: [UInt8]])
    /// A value that is not used here: formats, volumes, times, data.
    case other
}

/// The reason for which a message of the sound server is refused.
package enum SoundError: Error, Hashable {
    case truncated
    case unknownTag(UInt8)
    case limitExceeded
    /// The values are not those of the message that was expected.
    case unexpected
    /// The server refuses the request, with its code.
    case refused(UInt64)
}

/// Reads the values of a message of the sound server.
///
/// Properties are what clients say of themselves, however many and long, so that none of them makes a message
/// unreadable.
package struct SoundReader {
    private var rest: ArraySlice<UInt8>

    package init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// A Boolean value indicating whether no value is left.
    package var isAtEnd: Bool { rest.isEmpty }

    package mutating func next() throws(SoundError) -> SoundValue {
        let tag = try byte()
        switch UInt8(tag) {
        case UInt8(ascii: "t"): return .text(try text())
        case UInt8(ascii: "N"): return .text(nil)
        case UInt8(ascii: "L"): return .number(try integer(bytes: 4))
        case UInt8(ascii: "B"): return .number(try integer(bytes: 1))
        case UInt8(ascii: "R"), UInt8(ascii: "r"), UInt8(ascii: "U"): return .number(try integer(bytes: 8))
        case UInt8(ascii: "V"): return .number(try integer(bytes: 4))
        case UInt8(ascii: "1"): return .boolean(true)
        case UInt8(ascii: "0"): return .boolean(false)
        case UInt8(ascii: "P"): return .properties(try properties())
        default: return try other(tag: tag)
        }
    }

    /// Reads `count` values.
    package mutating func next(_ count: Int) throws(SoundError) -> [SoundValue] {
        var values: [SoundValue] = []
        for _ in 0..<count { values.append(try next()) }
        return values
    }

    private mutating func other(tag: UInt8) throws(SoundError) -> SoundValue {
        switch tag {
        case UInt8(ascii: "a"): _ = try take(6)
        case UInt8(ascii: "T"): _ = try take(8)
        case UInt8(ascii: "m"): _ = try take(Int(try byte()))
        case UInt8(ascii: "v"): _ = try take(4 * Int(try byte()))
        case UInt8(ascii: "x"): _ = try take(Int(try integer(bytes: 4)))
        case UInt8(ascii: "f"):
            try expect("B")
            _ = try byte()
            try expect("P")
            _ = try properties()
        default: throw .unknownTag(tag)
        }
        return .other
    }

    /// Reads the properties up to the text that is none; not by ``next()``: no message decides the depth of calls.
    private mutating func properties() throws(SoundError) -> [String: [UInt8]] {
        var properties: [String: [UInt8]] = [:]
        while true {
            let tag = try byte()
            guard tag != UInt8(ascii: "N") else { return properties }
            guard tag == UInt8(ascii: "t") else { throw .unexpected }
            let name = try text()
            try expect("L")
            let length = try integer(bytes: 4)
            try expect("x")
            guard try integer(bytes: 4) == length else { throw .unexpected }
            properties[name] = Array(try take(Int(length)))
        }
    }

    private mutating func expect(_ tag: Unicode.Scalar) throws(SoundError) {
        guard try byte() == UInt8(ascii: tag) else { throw .unexpected }
    }

    private mutating func text() throws(SoundError) -> String {
        guard let end = rest.firstIndex(of: 0) else { throw .truncated }
        defer { rest = rest[(end + 1)...] }
        return String(decoding: rest[..<end], as: UTF8.self)
    }

    private mutating func integer(bytes count: Int) throws(SoundError) -> UInt64 {
        try take(count).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func byte() throws(SoundError) -> UInt8 {
        guard let byte = rest.popFirst() else { throw .truncated }
        return byte
    }

    private mutating func take(_ count: Int) throws(SoundError) -> ArraySlice<UInt8> {
        guard count <= rest.count else { throw .truncated }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}
