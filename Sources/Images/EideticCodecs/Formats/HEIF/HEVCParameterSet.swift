#if HEIF
import EideticCore

/// The largest frame that the sequence parameter sets of HEVC data declare.
///
/// - SeeAlso: ITU-T H.265, 7.3.1 and 7.3.2.2; ISO/IEC 14496-15, 8.3.3.1 (`hvcC`).
enum HEVCParameterSet {
    /// Returns the largest size among the parameter sets in an `hvcC` box; `nil` if there is none.
    static func maximumFrameSize(inConfiguration box: UnsafeRawBufferPointer) -> PixelSize? {
        var largest: PixelSize?
        var offset = 23
        for _ in 0..<(box.uint8(at: 22) ?? 0) {
            let count = box.bigEndian16(at: offset + 1) ?? 0
            offset += 3
            for _ in 0..<count {
                guard let length = box.bigEndian16(at: offset), let unit = box.slice(at: offset + 2, count: length)
                else {
                    return largest
                }
                largest = larger(largest, or: frameSize(in: unit))
                offset += 2 + length
            }
        }
        return largest
    }

    /// Returns the largest size among the parameter sets in an item's data, whose units follow their lengths of
    /// `lengthSize` bytes.
    static func maximumFrameSize(in data: UnsafeRawBufferPointer, lengthSize: Int) -> PixelSize? {
        var largest: PixelSize?
        var offset = 0
        while offset + lengthSize <= data.count {
            let length = (0..<lengthSize).reduce(0) { $0 << 8 | Int(data[offset + $1]) }
            guard let unit = data.slice(at: offset + lengthSize, count: length) else { break }
            largest = larger(largest, or: frameSize(in: unit))
            offset += lengthSize + length
        }
        return largest
    }

    private static func larger(_ first: PixelSize?, or second: PixelSize?) -> PixelSize? {
        (second?.pixelCount ?? 0) > (first?.pixelCount ?? 0) ? second : first
    }

    /// Returns the size in a unit that is a sequence parameter set; otherwise, `nil`.
    private static func frameSize(in unit: UnsafeRawBufferPointer) -> PixelSize? {
        guard let head = unit.uint8(at: 0), head >> 1 & 63 == 33 else { return nil }
        return withoutEmulationPrevention(unit).withUnsafeBytes { content in
            var bits = BitReader(bytes: content)
            bits.skipBits(16 + 4)
            let layers = bits.readBits(3)
            bits.skipBits(1)
            skipProfile(&bits, layers: layers)
            _ = bits.readExponentialGolomb()
            if bits.readExponentialGolomb() == 3 { bits.skipBits(1) }
            let width = bits.readExponentialGolomb(), height = bits.readExponentialGolomb()
            return bits.isPastEnd ? nil : PixelSize(width: width, height: height)
        }
    }

    private static func skipProfile(_ bits: inout BitReader, layers: Int) {
        bits.skipBits(96)
        guard layers > 0 else { return }
        let flags = (0..<8).map { _ in (hasProfile: bits.readFlag(), hasLevel: bits.readFlag()) }
        for flag in flags.prefix(layers) { bits.skipBits((flag.hasProfile ? 88 : 0) + (flag.hasLevel ? 8 : 0)) }
    }

    /// Returns the unit's first bytes without the byte 3 behind two zeros; the size lies within them.
    private static func withoutEmulationPrevention(_ unit: UnsafeRawBufferPointer) -> [UInt8] {
        var content: [UInt8] = []
        var zeros = 0
        for byte in unit.prefix(256) {
            if zeros >= 2, byte == 3 { zeros = 0; continue }
            zeros = byte == 0 ? zeros + 1 : 0
            content.append(byte)
        }
        return content
    }
}
#endif
