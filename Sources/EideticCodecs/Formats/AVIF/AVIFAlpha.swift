#if AVIF
/// What a still AVIF says about the picture of its alpha, as far as libavif does not keep to it (docs/decisions/0022).
///
/// - SeeAlso: ISO/IEC 23008-12, 6.6.2.1; AV1, 5.5.
struct AVIFAlpha {
    /// Whether the alpha, turned as it says itself, has other sides than the turned colours, and so is none of theirs.
    private(set) var isForeign = false
    /// Whether its numbers are marked as 16 to 235, which the library stretches, though stored numbers count.
    private(set) var isNarrow = false

    /// `nil` where the picture has no alpha.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard let items = HEIFItems(bytes), let alpha = items.alpha(of: items.primary) else { return nil }
        isForeign = items.swapsSides(items.primary) != items.swapsSides(alpha)
        isNarrow = items.properties(alpha, "av1C").contains(where: Self.isNarrow)
    }

    /// The first sequence header among the units in an `av1C` box.
    private static func sequenceHeader(_ configuration: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        var offset = 4
        // One byte says what follows, a second one how long it is; longer ones do not occur before it.
        while let unit = configuration.uint8(offset), let length = configuration.uint8(offset + 1), unit & 6 == 2 {
            guard unit >> 3 != 1 else { return configuration.slice(offset + 2, length) }
            offset += 2 + length
        }
        return nil
    }

    /// Whether the sequence header in an `av1C` box is that of a still picture in limited range.
    private static func isNarrow(_ configuration: UnsafeRawBufferPointer) -> Bool {
        guard let header = sequenceHeader(configuration) else { return false }
        var bits = Bits(bytes: header)
        let profile = bits.next(3)
        guard bits.next(2) == 3 else { return false }
        bits.skip(5)
        let width = bits.next(4) + 1, height = bits.next(4) + 1
        bits.skip(width + height + 6)
        let isDeep = bits.next(1) == 1
        if profile == 2, isDeep { bits.skip(1) }
        guard profile != 1, bits.next(1) == 1 else { return false }
        if bits.next(1) == 1 { bits.skip(24) }
        return bits.next(1) == 0 && !bits.isOver
    }
}

/// Bits from the most significant one on; zeros behind the end.
private struct Bits {
    let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isOver: Bool { offset > 8 * bytes.count }

    mutating func next(_ count: Int) -> Int {
        (0..<count).reduce(0) { value, _ in
            defer { offset += 1 }
            return value << 1 | (bytes.uint8(offset >> 3) ?? 0) >> (7 - offset & 7) & 1
        }
    }

    mutating func skip(_ count: Int) { offset += count }
}
#endif
