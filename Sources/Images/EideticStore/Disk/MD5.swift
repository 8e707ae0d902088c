import Glibc

/// The digest that names the files of the SDWebImage family of caches; not for security.
///
/// - SeeAlso: RFC 1321.
package struct MD5 {
    private static let shifts: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]
    private static let sines: [UInt32] = (1...64).map { UInt32(UInt64((abs(sin(Double($0))) * 0x1p32).rounded(.down))) }

    private var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476]

    /// Returns the 32 hexadecimal digits of the digest of `bytes`.
    package static func hexadecimal(_ bytes: [UInt8]) -> String {
        var digest = MD5()
        var padded = bytes + [0x80]
        padded += [UInt8](repeating: 0, count: (120 - padded.count % 64) % 64)
        padded.append(UInt64(bytes.count) &* 8)
        for start in stride(from: 0, to: padded.count, by: 64) { digest.update(padded[start..<(start + 64)]) }
        var result: [UInt8] = []
        for word in digest.state { result.append(word) }
        return result.reduce(into: "") { $0 += ($1 < 16 ? "0" : "") + String($1, radix: 16) }
    }

    private mutating func update(_ block: ArraySlice<UInt8>) {
        let words = (0..<16).map { index in
            (0..<4).reduce(UInt32(0)) { $0 | UInt32(block[block.startIndex + 4 * index + $1]) << UInt32(8 * $1) }
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        for step in 0..<64 {
            let (mixed, word) = Self.mix(step: step, b: b, c: c, d: d)
            let sum = a &+ mixed &+ Self.sines[step] &+ words[word]
            let shift = Self.shifts[step / 16 * 4 + step % 4]
            (a, d, c, b) = (d, c, b, b &+ (sum << shift | sum >> (32 - shift)))
        }
        state = [state[0] &+ a, state[1] &+ b, state[2] &+ c, state[3] &+ d]
    }

    /// Returns the value of a step's function, and the index of the word that the step uses.
    private static func mix(step: Int, b: UInt32, c: UInt32, d: UInt32) -> (UInt32, Int) {
        switch step / 16 {
        case 0: (b & c | ~b & d, step)
        case 1: (d & b | ~d & c, (5 * step + 1) % 16)
        case 2: (b ^ c ^ d, (3 * step + 5) % 16)
        default: (c ^ (b | ~d), 7 * step % 16)
        }
    }
}
