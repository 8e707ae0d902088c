#if HEIF
/// A reader of the sequence parameter set in the configuration of an HEVC image.
///
/// - SeeAlso: ITU-T H.265, sections 7.3.2.2.1, 7.3.3, 7.3.4, 7.3.7 and E.2.1; ISO/IEC 14496-15, 8.3.3.1.2 (`hvcC`).
struct HEVCParameterSet {
    private var bits: BitReader

    /// Returns the code points of primaries and transfer characteristics in an `hvcC` box; `nil` if it states none.
    static func codePoints(in configuration: UnsafeRawBufferPointer) -> (primaries: Int, transfer: Int)? {
        unit(in: configuration)?.withUnsafeBytes { bytes in
            var set = HEVCParameterSet(bits: BitReader(bytes: bytes))
            let points = set.readCodePoints()
            return set.bits.isPastEnd ? nil : points
        }
    }

    /// Returns the first parameter set, without the bytes that keep it from looking like a start code.
    private static func unit(in configuration: UnsafeRawBufferPointer) -> [UInt8]? {
        var offset = 23
        for _ in 0..<(configuration.uint8(at: 22) ?? 0) {
            guard let type = configuration.uint8(at: offset), let count = configuration.bigEndian16(at: offset + 1)
            else {
                return nil
            }
            offset += 3
            for _ in 0..<count {
                guard let length = configuration.bigEndian16(at: offset),
                    let unit = configuration.slice(at: offset + 2, count: length)
                else { return nil }
                guard type & 63 != 33 else { return unescaped(unit) }
                offset += 2 + length
            }
        }
        return nil
    }

    private static func unescaped(_ unit: UnsafeRawBufferPointer) -> [UInt8] {
        var zeros = 0
        return unit.filter { byte in
            let isEscape = zeros >= 2 && byte == 3
            zeros = byte == 0 ? zeros + 1 : 0
            return !isEscape
        }
    }

    private mutating func readFlag() -> Bool { bits.readBits(1) == 1 }

    /// Reads an Exp-Golomb code (ITU-T H.265, 9.2), signed ones as their code number.
    @discardableResult private mutating func readCode() -> Int {
        var count = 0
        while count < 32, !bits.isPastEnd, !readFlag() { count += 1 }
        return (1 << count) - 1 + bits.readBits(min(count, 31))
    }

    private mutating func skipCodes(_ count: Int) { for _ in 0..<count { readCode() } }

    private mutating func readCodePoints() -> (primaries: Int, transfer: Int)? {
        bits.skipBits(20)
        let layers = bits.readBits(3)
        bits.skipBits(1)
        skipProfile(layers: layers)
        readCode()
        if readCode() == 3 { bits.skipBits(1) }
        skipCodes(2)
        if readFlag() { skipCodes(4) }
        skipCodes(2)
        let orderBits = readCode() + 4
        skipCodes(3 * (readFlag() ? layers + 1 : 1) + 6)
        if readFlag(), readFlag() { skipScalingLists() }
        bits.skipBits(2)
        if readFlag() {
            bits.skipBits(8)
            skipCodes(2)
            bits.skipBits(1)
        }
        // A still image has at most one set of references; further ones may depend on it.
        let setCount = readCode()
        guard setCount < 2 else { return nil }
        if setCount == 1 {
            for _ in 0..<min(readCode() + readCode(), 32) {
                readCode()
                bits.skipBits(1)
            }
        }
        if readFlag() { bits.skipBits(min(readCode(), 32) * (orderBits + 1)) }
        bits.skipBits(2)
        return readFlag() ? readDescription() : nil
    }

    private mutating func skipProfile(layers: Int) {
        bits.skipBits(96)
        guard layers > 0 else { return }
        let flags = (0..<8).map { _ in bits.readBits(2) }
        for flag in flags.prefix(layers) { bits.skipBits((flag >> 1) * 88 + (flag & 1) * 8) }
    }

    private mutating func skipScalingLists() {
        for size in 0..<4 {
            for _ in stride(from: 0, to: 6, by: size == 3 ? 3 : 1) {
                guard readFlag() else {
                    readCode()
                    continue
                }
                skipCodes(min(64, 1 << (4 + 2 * size)) + (size > 1 ? 1 : 0))
            }
        }
    }

    /// Reads the colours among the information about usability.
    private mutating func readDescription() -> (primaries: Int, transfer: Int)? {
        if readFlag(), bits.readBits(8) == 255 { bits.skipBits(32) }
        if readFlag() { bits.skipBits(1) }
        guard readFlag() else { return nil }
        bits.skipBits(4)
        return readFlag() ? (bits.readBits(8), bits.readBits(8)) : nil
    }
}
#endif
