/// The rules of the standards for the head of a request.
///
/// - SeeAlso: RFC 9112, sections 2.2, 3 and 6.3; RFC 9110, sections 5.1 and 5.5; URL Standard, section 1.3.
package enum RequestGrammar {
    /// Returns a line for each fault of a head, which ends with an empty line.
    package static func faults(in head: [UInt8]) -> [String] {
        let lines = lines(of: head)
        guard let first = lines.first else { return ["no request line"] }
        var faults = faults(inRequestLine: first)
        var names: [String] = []
        for line in lines.dropFirst() {
            let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
            let name = line[..<colon]
            let value = line[colon...].dropFirst()
            names.append(String(decoding: name, as: UTF8.self).lowercased())
            if colon == line.endIndex { faults.append("no colon in \(text(line))") }
            if !isToken(name) { faults.append("not a name of a field: \(text(name))") }
            if value.contains(where: isForbiddenInValue) { faults.append("a control character in \(text(line))") }
        }
        let lengths = names.filter { $0 == "content-length" || $0 == "transfer-encoding" }
        if lengths.count > 1 { faults.append("several lengths: \(lengths)") }
        if names.filter({ $0 == "host" }).count != 1 { faults.append("not one Host field in \(text(first))") }
        return faults
    }

    private static func faults(inRequestLine line: ArraySlice<UInt8>) -> [String] {
        let words = line.split(separator: 0x20, omittingEmptySubsequences: false)
        guard words.count == 3, isToken(words[0]), words[2].elementsEqual("HTTP/1.1".utf8) else {
            return ["not a request line: \(text(line))"]
        }
        let forbidden = Array("\"<>\\^`{|}#".utf8)
        let isTarget =
            !words[1].isEmpty && words[1].allSatisfy { (0x21...0x7e).contains($0) && !forbidden.contains($0) }
        return isTarget ? [] : ["not a request target: \(text(words[1]))"]
    }

    /// Splits a head at its line breaks, which are pairs; any other one stays within its line.
    private static func lines(of head: [UInt8]) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var start = 0
        for index in head.indices.dropLast() where head[index] == 0x0d && head[index + 1] == 0x0a {
            if index > start { lines.append(head[start..<index]) }
            start = index + 2
        }
        return lines
    }

    private static func isToken(_ bytes: ArraySlice<UInt8>) -> Bool {
        let others = Array("!#$%&'*+-.^_`|~".utf8)
        return !bytes.isEmpty
            && bytes.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0)
                    || others.contains($0)
            }
    }

    private static func isForbiddenInValue(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 0x09 || byte == 0x7f }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(reflecting: String(decoding: bytes, as: UTF8.self))
    }
}
