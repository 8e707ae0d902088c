import EideticCore

/// Texts that a program or a server might put where a request is made of them; equal seeds give equal texts.
package final class HostileText: Sendable {
    private let state: Guarded<UInt64>

    package init(seed: UInt64) { state = Guarded(seed &* 0x9e37_79b9_7f4a_7c15 | 1) }

    /// Returns a random number below `bound`.
    package func number(below bound: Int) -> Int {
        state.withLock { state in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int((state >> 11) % UInt64(bound))
        }
    }

    /// Returns the bytes of a random text, without those of `excluded`.
    package func bytes(without excluded: [UInt8] = []) -> [UInt8] {
        let pieces = [
            "a", "b1", " ", "\t", "\r\n", "\n", "\r", "\u{0}", "\u{1}", "\u{1f}", "\u{7f}", "\"", "'", "<", ">", "\\",
            "^",
            "`", "{", "|", "}", "#", "%", "%0d%0a", "%00", "%zz", "?", "&", "=", ":", "/", "//", "../", "@", "[", "]",
            ";",
            ",", "é", "😀", "\u{2028}", "\r\nX-Evil: 1", " HTTP/1.1\r\nHost: evil\r\n\r\n",
        ]
        var bytes: [UInt8] = []
        for _ in 0..<number(below: 7) {
            let choice = number(below: pieces.count + 2)
            bytes += choice < pieces.count ? Array(pieces[choice].utf8) : [UInt8(number(below: 256))]
        }
        return bytes.filter { !excluded.contains($0) }
    }
}
