/// The beginning of a JPEG XL codestream: the meaning of its samples.
///
/// - SeeAlso: ISO/IEC 18181-1, annexes B (fields), D (headers) and E (colour encoding).
struct JPEGXLFacts {
    /// The number of bits of a sample.
    private(set) var bits = 8
    /// "RGB", "grey" or "CMYK"; `nil` for other colours.
    private(set) var color: String? = "RGB"
    private(set) var hasProfile = false
    /// The code point of the primaries (ITU-T H.273); `nil` for those of a profile.
    private(set) var primaries: Int? = 1
    /// The code point of the transfer characteristics (ITU-T H.273); `nil` for those of a profile, and for a power.
    private(set) var transfer: Int? = 13

    private let bytes: ArraySlice<UInt8>
    private var position = 16

    /// Reads the headers; `nil` if the bytes are no codestream, or end within them.
    init?(_ codestream: ArraySlice<UInt8>) {
        guard codestream.starts(with: [0xff, 0x0a]) else { return nil }
        bytes = codestream
        skipSize()
        if !readFlag() { readMetadata() }
        guard position <= 8 * bytes.count else { return nil }
    }

    private mutating func readMetadata() {
        if readFlag() { skipExtraFields() }
        bits = readDepth()
        _ = readFlag()
        let channelCount = readNumber([(0, 0), (1, 0), (2, 4), (1, 12)])
        var hasBlack = false
        for _ in 0..<channelCount where position < 8 * bytes.count {
            if readExtraChannel() == Self.blackChannel { hasBlack = true }
        }
        _ = readFlag()
        if !readFlag() { readColours() }
        if hasBlack { color = "CMYK" }
    }

    /// The number of the kind of extra channels that have the black ink.
    private static let blackChannel = 4

    private mutating func skipExtraFields() {
        skip(3)
        if readFlag() { skipSize() }
        if readFlag() { skipPreview() }
        guard readFlag() else { return }
        _ = readNumber([(100, 0), (1_000, 0), (1, 10), (1, 30)])
        _ = readNumber([(1, 0), (1_001, 0), (1, 8), (1, 10)])
        _ = readNumber([(0, 0), (0, 3), (0, 16), (0, 32)])
        skip(1)
    }

    private mutating func skipSize() {
        let isSmall = readFlag()
        for isHeight in [true, false] where isHeight || readBits(3) == 0 {
            if isSmall { skip(5) } else { _ = readNumber([(1, 9), (1, 13), (1, 18), (1, 30)]) }
        }
    }

    private mutating func skipPreview() {
        let isSmall = readFlag()
        for isHeight in [true, false] where isHeight || readBits(3) == 0 {
            _ = readNumber(isSmall ? [(16, 0), (32, 0), (1, 5), (33, 9)] : [(1, 6), (65, 8), (321, 10), (1_345, 12)])
        }
    }

    private mutating func readDepth() -> Int {
        guard readFlag() else { return readNumber([(8, 0), (10, 0), (12, 0), (1, 6)]) }
        let depth = readNumber([(32, 0), (16, 0), (24, 0), (1, 6)])
        skip(4)
        return depth
    }

    /// Reads the header of an extra channel, and returns the number of its kind.
    private mutating func readExtraChannel() -> Int {
        guard !readFlag() else { return 0 }
        let kind = readCode()
        _ = readDepth()
        _ = readNumber([(0, 0), (3, 0), (4, 0), (1, 3)])
        skip(8 * readNumber([(0, 0), (0, 4), (16, 5), (48, 10)]))
        switch kind {
        case 0: skip(1)
        case 2: skip(64)
        case 5: _ = readNumber([(1, 0), (0, 2), (3, 4), (19, 8)])
        default: break
        }
        return kind
    }

    private mutating func readColours() {
        hasProfile = readFlag()
        let space = readCode()
        color = [0: "RGB", 1: "grey"][space]
        primaries = nil
        transfer = nil
        guard !hasProfile, space != 2 else { return }
        let white = readPoints(count: 1)
        if space != 1 {
            let code = readPoints(count: 3)
            // With the white of DCI or of D65.
            primaries = white == 1 ? [1: 1, 9: 9, 11: 12][code] : white == 11 && code == 11 ? 11 : nil
        }
        if readFlag() { skip(24) } else { transfer = readCode() }
    }

    /// Reads the code of white or of primaries, and skips chromaticities.
    private mutating func readPoints(count: Int) -> Int {
        let code = readCode()
        for _ in 0..<(code == 2 ? 2 * count : 0) {
            _ = readNumber([(0, 19), (524_288, 19), (1_048_576, 20), (2_097_152, 21)])
        }
        return code
    }

    // MARK: Fields

    private mutating func readCode() -> Int { readNumber([(0, 0), (1, 0), (2, 4), (18, 6)]) }

    /// Reads a number that two bits announce: a base, and some bits to add.
    private mutating func readNumber(_ forms: [(base: Int, bits: Int)]) -> Int {
        let form = forms[readBits(2)]
        return form.base + readBits(form.bits)
    }

    private mutating func readFlag() -> Bool { readBits(1) == 1 }

    private mutating func skip(_ count: Int) { position += count }

    /// Reads a number, its lowest bit first; bits beyond the end are 0.
    private mutating func readBits(_ count: Int) -> Int {
        var value = 0
        for bit in 0..<count where position + bit < 8 * bytes.count {
            let byte = bytes[bytes.startIndex + (position + bit) / 8]
            value |= Int(byte >> UInt8((position + bit) % 8) & 1) << bit
        }
        position += count
        return value
    }
}
