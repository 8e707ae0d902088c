import EideticHTTP

import Glibc

extension ResponseHead {
    /// Creates a head from a status line such as `HTTP/1.1 404 Not Found`.
    init(statusLine line: UnsafeRawBufferPointer) {
        var start = line.index(of: UInt8(ascii: " "), from: 0) ?? line.count
        while start < line.count, line[start] == UInt8(ascii: " ") { start += 1 }
        let end = line.index(of: UInt8(ascii: " "), from: start) ?? line.count
        status = Int(line.text(from: start, to: end)) ?? 0
        reasonPhrase = line.text(from: end, to: line.count)
        headers = HTTPHeaders(capacity: 16)
    }
}

extension UnsafeRawBufferPointer {
    /// Returns the first index of `byte` at or after `start`.
    func index(of byte: UInt8, from start: Int) -> Int? {
        guard let baseAddress, start < count else { return nil }
        return memchr(baseAddress + start, Int32(byte), count - start).map { UnsafeRawPointer($0) - baseAddress }
    }

    /// Returns the bytes of a range as text, without leading and trailing white space.
    func text(from first: Int, to last: Int) -> String {
        var (first, last) = (first, last)
        while first < last, Self.isWhitespace(self[first]) { first += 1 }
        while first < last, Self.isWhitespace(self[last - 1]) { last -= 1 }
        let part = UnsafeRawBufferPointer(rebasing: self[first..<last])
        guard part.contains(where: { $0 >= 0x80 }) else { return String(decoding: part, as: UTF8.self) }
        return String(fieldBytes: part)
    }

    /// A Boolean value indicating whether all bytes are white space.
    var isBlank: Bool { first.map(Self.isWhitespace) ?? true && allSatisfy(Self.isWhitespace) }

    /// A Boolean value indicating whether the bytes begin with a status line.
    var startsWithStatusLine: Bool { baseAddress.map { count >= 5 && memcmp($0, "HTTP/", 5) == 0 } ?? false }

    private static func isWhitespace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }
}
