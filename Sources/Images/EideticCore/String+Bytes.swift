import Glibc

extension String {
    /// Returns whether the text has a byte of ASCII; much faster than a search in its view of UTF-8.
    ///
    /// - Complexity: O(*n*).
    package func contains(byte: UInt8) -> Bool {
        utf8.withContiguousStorageIfAvailable { bytes in
            bytes.baseAddress.map { memchr($0, Int32(byte), bytes.count) != nil } ?? false
        } ?? utf8.contains(byte)
    }
}

/// Divisions at bytes of ASCII, which a combining mark behind them does not hide: the two are one character.
extension StringProtocol where SubSequence == Substring {
    /// Returns the texts before and behind the first of a byte of ASCII; `nil` without one.
    package func divided(at byte: UInt8) -> (front: Substring, rest: Substring)? {
        guard let index = utf8.firstIndex(of: byte) else { return nil }
        return (self[..<index], self[utf8.index(after: index)...])
    }

    /// Returns the text behind its first bytes, which are those of a prefix; `nil` if they are others.
    package func rest(behind prefix: String) -> Substring? {
        guard utf8.starts(with: prefix.utf8) else { return nil }
        return self[utf8.index(startIndex, offsetBy: prefix.utf8.count)...]
    }
}
