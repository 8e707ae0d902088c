/// A message of a server: JSON with `content-available`, at the top or in `aps`, as the usual push services have it.
package struct PushPayload: Sendable, Hashable {
    package let bytes: [UInt8]

    /// The reason for which a message is refused.
    package enum Fault: Error, Sendable, Hashable, CustomStringConvertible {
        case tooLong
        case invalidJSON(offset: Int)
        case notSilent

        package var description: String {
            switch self {
            case .tooLong: "the message has more than \(PushPayload.lengthLimit) bytes"
            case .invalidJSON(let offset): "the message is no JSON object: unexpected byte at \(offset)"
            case .notSilent: "the message has no \"content-available\": 1"
            }
        }
    }

    package static let lengthLimit = 4_096
    /// The greatest depth of objects and arrays.
    static let depthLimit = 32

    /// Checks a message, which is not trusted.
    package init(_ bytes: [UInt8]) throws(Fault) {
        guard bytes.count <= Self.lengthLimit else { throw .tooLong }
        if String(validating: bytes, as: UTF8.self) == nil { throw .invalidJSON(offset: 0) }
        var scanner = JSONScanner(bytes: bytes)
        guard try scanner.scanDocument() else { throw .notSilent }
        self.bytes = bytes
    }
}

/// Scans JSON for `content-available` without building values.
///
/// - SeeAlso: RFC 8259
struct JSONScanner {
    let bytes: [UInt8]
    private var offset = 0
    private var isSilent = false

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Scans one object; returns whether `content-available` is 1 in it, or in its `aps`.
    mutating func scanDocument() throws(PushPayload.Fault) -> Bool {
        skipSpace()
        guard peek == UInt8(ascii: "{") else { throw .invalidJSON(offset: offset) }
        try scanObject(depth: 0, isRelevant: true)
        skipSpace()
        guard offset == bytes.count else { throw .invalidJSON(offset: offset) }
        return isSilent
    }

    private var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func skipSpace() {
        while let byte = peek, [0x20, 0x09, 0x0a, 0x0d].contains(byte) { offset += 1 }
    }

    private mutating func expect(_ byte: UInt8) throws(PushPayload.Fault) {
        skipSpace()
        guard peek == byte else { throw .invalidJSON(offset: offset) }
        offset += 1
    }

    private mutating func scanObject(depth: Int, isRelevant: Bool) throws(PushPayload.Fault) {
        guard depth < PushPayload.depthLimit else { throw .invalidJSON(offset: offset) }
        try expect(UInt8(ascii: "{"))
        skipSpace()
        if peek == UInt8(ascii: "}") { return offset += 1 }
        while true {
            skipSpace()
            let key = try scanString()
            try expect(UInt8(ascii: ":"))
            skipSpace()
            let start = offset
            let isKey = isRelevant && key.elementsEqual("content-available".utf8)
            try scanValue(depth: depth + 1, isRelevant: isRelevant && depth == 0 && key.elementsEqual("aps".utf8))
            if isKey { isSilent = bytes[start..<offset].elementsEqual("1".utf8) || isSilent }
            skipSpace()
            guard peek == UInt8(ascii: ",") else { return try expect(UInt8(ascii: "}")) }
            offset += 1
        }
    }

    private mutating func scanArray(depth: Int) throws(PushPayload.Fault) {
        guard depth < PushPayload.depthLimit else { throw .invalidJSON(offset: offset) }
        try expect(UInt8(ascii: "["))
        skipSpace()
        if peek == UInt8(ascii: "]") { return offset += 1 }
        while true {
            try scanValue(depth: depth + 1, isRelevant: false)
            skipSpace()
            guard peek == UInt8(ascii: ",") else { return try expect(UInt8(ascii: "]")) }
            offset += 1
        }
    }

    private mutating func scanValue(depth: Int, isRelevant: Bool) throws(PushPayload.Fault) {
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): try scanObject(depth: depth, isRelevant: isRelevant)
        case UInt8(ascii: "["): try scanArray(depth: depth)
        case UInt8(ascii: "\""): _ = try scanString()
        case UInt8(ascii: "t"): try scanWord("true")
        case UInt8(ascii: "f"): try scanWord("false")
        case UInt8(ascii: "n"): try scanWord("null")
        default: try scanNumber()
        }
    }

    private mutating func scanWord(_ word: String) throws(PushPayload.Fault) {
        guard bytes[offset...].starts(with: word.utf8) else { throw .invalidJSON(offset: offset) }
        offset += word.utf8.count
    }

    private mutating func scanNumber() throws(PushPayload.Fault) {
        if peek == UInt8(ascii: "-") { offset += 1 }
        if peek == UInt8(ascii: "0") { offset += 1 } else { try scanDigits() }
        if peek == UInt8(ascii: ".") {
            offset += 1
            try scanDigits()
        }
        guard let byte = peek, byte | 0x20 == UInt8(ascii: "e") else { return }
        offset += 1
        if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { offset += 1 }
        try scanDigits()
    }

    private mutating func scanDigits() throws(PushPayload.Fault) {
        let start = offset
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { offset += 1 }
        if offset == start { throw .invalidJSON(offset: offset) }
    }

    /// Scans a string, and returns its bytes as they stand between the quotes.
    private mutating func scanString() throws(PushPayload.Fault) -> ArraySlice<UInt8> {
        try expect(UInt8(ascii: "\""))
        let start = offset
        while let byte = peek, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw .invalidJSON(offset: offset) }
            offset += byte == UInt8(ascii: "\\") ? 2 : 1
        }
        guard peek != nil else { throw .invalidJSON(offset: Swift.min(offset, bytes.count)) }
        defer { offset += 1 }
        return bytes[start..<offset]
    }
}
