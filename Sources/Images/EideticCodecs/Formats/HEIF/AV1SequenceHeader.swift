#if AVIF || HEIF
import EideticCore

/// The largest frame that the sequence headers of AV1 data allow.
///
/// - SeeAlso: AV1, 5.3, 5.5.1 and 7.5.
enum AV1SequenceHeader {
    /// Returns the largest size of a frame; `nil` if the data is not a sequence of units that state their length, or
    /// has no sequence header.
    ///
    /// If frames may state a size of their own, the largest that their fields can express.
    static func maximumFrameSize(in data: UnsafeRawBufferPointer) -> PixelSize? {
        var largest: PixelSize?
        var offset = 0
        while let head = data.uint8(at: offset) {
            offset += head & 4 == 0 ? 1 : 2
            var length = data.count - offset
            if head & 2 != 0 {
                guard let stated = readLength(in: data, offset: &offset) else { return nil }
                length = stated
            }
            guard let unit = data.slice(at: offset, count: length) else { return nil }
            offset += length
            guard head >> 3 & 15 == 1 else { continue }
            guard let size = frameSize(in: unit) else { return nil }
            if size.pixelCount > largest?.pixelCount ?? 0 { largest = size }
        }
        return largest
    }

    /// Reads a number of up to eight groups of seven bits, the lowest first.
    private static func readLength(in data: UnsafeRawBufferPointer, offset: inout Int) -> Int? {
        var length = 0
        for group in 0..<8 {
            guard let byte = data.uint8(at: offset) else { return nil }
            offset += 1
            length |= (byte & 0x7f) << (7 * group)
            guard byte & 0x80 != 0 else { return length }
        }
        return nil
    }

    private static func frameSize(in header: UnsafeRawBufferPointer) -> PixelSize? {
        var bits = BitReader(bytes: header)
        bits.skipBits(4)
        let isReduced = bits.readFlag()
        if isReduced { bits.skipBits(5) } else { skipOperatingPoints(&bits) }
        let widthBits = bits.readBits(4) + 1, heightBits = bits.readBits(4) + 1
        let width = bits.readBits(widthBits) + 1, height = bits.readBits(heightBits) + 1
        guard !bits.isPastEnd else { return nil }
        return isReduced
            ? PixelSize(width: width, height: height) : PixelSize(width: 1 << widthBits, height: 1 << heightBits)
    }

    private static func skipOperatingPoints(_ bits: inout BitReader) {
        var hasModel = false, delayBits = 0
        if bits.readFlag() {
            bits.skipBits(64)
            if bits.readFlag() { _ = bits.readExponentialGolomb() }
            hasModel = bits.readFlag()
            if hasModel {
                delayBits = bits.readBits(5) + 1
                bits.skipBits(42)
            }
        }
        let hasDisplayDelay = bits.readFlag()
        for _ in 0..<bits.readBits(5) + 1 {
            bits.skipBits(12)
            if bits.readBits(5) > 7 { bits.skipBits(1) }
            if hasModel, bits.readFlag() { bits.skipBits(2 * delayBits + 1) }
            if hasDisplayDelay, bits.readFlag() { bits.skipBits(4) }
        }
    }
}
#endif
