import CBitmap
import EideticCore

/// The fields of a bitmap's information header, which lies completely within the bytes.
struct BitmapFields {
    let bytes: UnsafeRawBufferPointer
    let start: Int
    let length: Int
    let isIcon: Bool

    private var isCore: Bool { length == 12 }

    /// A field of 32 bits; 0 where this version of the header has none.
    private func long(_ offset: Int) -> Int {
        offset + 4 <= length ? bytes.little32(start + offset) ?? 0 : 0
    }

    /// A signed number of 32 bits.
    private func signed(_ offset: Int) -> Int? {
        bytes.little32(offset).map { Int(Int32(truncatingIfNeeded: $0)) }
    }

    var bits: Int { bytes.little16(start + (isCore ? 10 : 14)) ?? 0 }

    /// Width and height, and whether the upper row comes first.
    func size() throws(EideticError) -> (PixelSize, Bool) {
        let width = isCore ? bytes.little16(start + 4) : signed(start + 4)
        let height = isCore ? bytes.little16(start + 6) : signed(start + 8)
        guard let width, let height, width > 0, height != 0, abs(height) <= Int(Int32.max) else {
            throw EideticError(.corrupt, "a bitmap of \(width ?? 0)x\(height ?? 0) pixels")
        }
        let rows = isIcon ? abs(height) / 2 : abs(height)
        guard rows > 0 else { throw EideticError(.corrupt, "an icon without rows") }
        return (PixelSize(width: width, height: rows), height < 0)
    }

    func coding() throws(EideticError) -> BitmapHeader.Coding {
        let compression = isCore ? 0 : long(16)
        switch (compression, bits) {
        case (0, 1), (0, 2), (0, 4), (0, 8): return .indexed
        case (0, 16), (0, 24), (0, 32): return .fields
        case (1, 8), (2, 4): return .runs
        case (3, 16), (3, 32): return .fields
        default:
            throw EideticError(
                Self.isKnown(compression, bits) ? .unsupportedFormat : .corrupt,
                "a bitmap of \(bits) bits with compression \(compression) is not decoded"
            )
        }
    }

    /// Huffman and RLE24 of OS/2 (3 and 4), JPEG, PNG and masks of Windows CE.
    private static func isKnown(_ compression: Int, _ bits: Int) -> Bool {
        switch (compression, bits) {
        case (3, 1), (4, 24), (4, 0), (5, 0), (5, 24), (5, 32), (4, 32), (6, 16), (6, 32): true
        default: false
        }
    }

    /// Where red, green, blue and alpha lie; `nil` where the masks that follow the header are not there yet.
    func channels() throws(EideticError) -> [eidetic_bitmap_channel]? {
        guard bits >= 16 else { return [] }
        guard !isCore, long(16) == 3 else { return try Self.channels(defaults) }
        guard let red = bytes.little32(start + 40), let green = bytes.little32(start + 44),
            let blue = bytes.little32(start + 48)
        else { return nil }
        var masks = [red, green, blue, length >= 56 ? long(52) : 0]
        if masks.allSatisfy({ $0 == 0 }) { masks = defaults }
        return try Self.channels(masks)
    }

    /// What Windows assumes; without masks of its own only an icon has alpha.
    private var defaults: [Int] {
        guard bits != 16 else { return [0x7c00, 0x03e0, 0x001f, 0] }
        return [0xff0000, 0xff00, 0xff, bits == 32 && isIcon ? 0xff00_0000 : 0]
    }

    private static func channels(_ masks: [Int]) throws(EideticError) -> [eidetic_bitmap_channel] {
        var channels: [eidetic_bitmap_channel] = []
        for mask in masks {
            channels.append(try channel(UInt32(truncatingIfNeeded: mask), isAlpha: channels.count == 3))
        }
        return channels
    }

    private static func channel(_ mask: UInt32, isAlpha: Bool) throws(EideticError) -> eidetic_bitmap_channel {
        let shift = mask == 0 ? 0 : mask.trailingZeroBitCount
        let maximum = mask >> UInt32(shift)
        guard maximum & (maximum &+ 1) == 0 else {
            throw EideticError(.corrupt, "the bits of a colour mask have gaps")
        }
        return .init(
            mask: mask,
            shift: UInt32(shift),
            maximum: maximum,
            highest: highest(maximum, isAlpha: isAlpha)
        )
    }

    /// What a channel's largest value becomes; narrow ones are shifted, as most decoders do (docs/decisions/0020).
    private static func highest(_ maximum: UInt32, isAlpha: Bool) -> UInt8 {
        switch maximum {
        case 0: isAlpha ? 255 : 0
        case 3: 0xc0
        case 7: 0xe0
        case 15 where !isAlpha: 0xf0
        default: 255
        }
    }

    /// Where the palette is, how long, and how many bytes a colour has.
    func colors(pixels: Int?) -> (offset: Int, count: Int, stride: Int) {
        let hasMasks = length == 40 && long(16) == 3
        let offset = start + length + (hasMasks ? 12 : 0)
        let stride = isCore ? 3 : 4
        let announced = long(32)
        guard bits <= 8 else { return (offset, pixels == nil ? min(announced, 256) : 0, stride) }
        let count = announced == 0 || isCore ? 1 << bits : announced
        guard let pixels, pixels > offset else { return (offset, min(count, 1 << bits), stride) }
        return (offset, min(count, 1 << bits, (pixels - offset) / stride), stride)
    }
}
