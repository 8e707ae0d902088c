#if AVIF
/// Properties of a still AVIF's alpha that libavif handles differently (docs/decisions/0023).
///
/// - SeeAlso: ISO/IEC 23008-12, 6.6.2.1; AV1, 5.5.
struct AVIFAlpha {
    /// A Boolean value indicating whether the alpha is marked as limited range (16 to 235), which libavif expands
    /// although stored values count.
    private(set) var isLimitedRange = false

    /// Reads the properties; `nil` if the image has no alpha.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard let items = HEIFItems(bytes), let alpha = items.alphaItem(of: items.primaryItem) else { return nil }
        isLimitedRange = items.properties(of: alpha, named: "av1C").contains(where: Self.isLimitedRange)
    }

    /// Returns the first sequence header among the units in an `av1C` box.
    private static func sequenceHeader(in configuration: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        var offset = 4
        // The first byte has the type of a unit, the second its length; longer lengths do not occur before the sequence
        // header.
        while let unit = configuration.uint8(at: offset), let length = configuration.uint8(at: offset + 1),
            unit & 6 == 2
        {
            guard unit >> 3 != 1 else { return configuration.slice(at: offset + 2, count: length) }
            offset += 2 + length
        }
        return nil
    }

    /// Returns `true` if the sequence header in an `av1C` box is that of a still image in limited range; otherwise,
    /// `false`.
    private static func isLimitedRange(_ configuration: UnsafeRawBufferPointer) -> Bool {
        guard let header = sequenceHeader(in: configuration) else { return false }
        var bits = BitReader(bytes: header)
        let profile = bits.readBits(3)
        guard bits.readBits(2) == 3 else { return false }
        bits.skipBits(5)
        let width = bits.readBits(4) + 1
        let height = bits.readBits(4) + 1
        bits.skipBits(width + height + 6)
        let isHighBitDepth = bits.readBits(1) == 1
        if profile == 2, isHighBitDepth { bits.skipBits(1) }
        guard profile != 1, bits.readBits(1) == 1 else { return false }
        if bits.readBits(1) == 1 { bits.skipBits(24) }
        return bits.readBits(1) == 0 && !bits.isPastEnd
    }
}
#endif
