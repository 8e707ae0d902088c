import CBitmap
import EideticCore

/// The fields of a bitmap's information header, which lies completely within the bytes.
struct BMPHeaderFields {
    let bytes: UnsafeRawBufferPointer
    let start: Int
    let length: Int
    let isIcon: Bool

    private var isCore: Bool { length == 12 }

    /// Returns an unsigned field; 0 if this version of the header has none at `offset`.
    private func uint32(at offset: Int) -> Int {
        offset + 4 <= length ? bytes.littleEndian32(at: start + offset) ?? 0 : 0
    }

    /// Returns a signed field of 32 bits.
    private func int32(at offset: Int) -> Int? {
        bytes.littleEndian32(at: offset).map { Int(Int32(truncatingIfNeeded: $0)) }
    }

    var bitsPerPixel: Int { bytes.littleEndian16(at: start + (isCore ? 10 : 14)) ?? 0 }

    /// Returns the size, and `true` if the first stored row is the top one.
    func size() throws(EideticError) -> (PixelSize, Bool) {
        let width = isCore ? bytes.littleEndian16(at: start + 4) : int32(at: start + 4)
        let height = isCore ? bytes.littleEndian16(at: start + 6) : int32(at: start + 8)
        guard let width, let height, width > 0, height != 0, abs(height) <= Int(Int32.max) else {
            throw EideticError(.corrupt, message: "BMP: invalid size \(width ?? 0)x\(height ?? 0)")
        }
        let rows = isIcon ? abs(height) / 2 : abs(height)
        guard rows > 0 else { throw EideticError(.corrupt, message: "ICO: an image without rows") }
        return (PixelSize(width: width, height: rows), height < 0)
    }

    func coding() throws(EideticError) -> BMPHeader.Coding {
        let compression = isCore ? 0 : uint32(at: 16)
        switch (compression, bitsPerPixel) {
        case (0, 1), (0, 2), (0, 4), (0, 8): return .indexed
        case (0, 16), (0, 24), (0, 32): return .bitFields
        case (1, 8), (2, 4): return .runLength
        case (3, 16), (3, 24), (3, 32), (6, 16), (6, 32): return .bitFields
        case (4, 24) where isOS2: return .runLength
        case (3, 1) where isOS2:
            throw EideticError(.unsupportedFormat, message: "BMP: the Huffman codes of OS/2 are not supported")
        default:
            throw EideticError(
                Self.isKnown(compression: compression, bitsPerPixel: bitsPerPixel) ? .unsupportedFormat : .corrupt,
                message: "BMP: \(bitsPerPixel) bits per pixel with compression \(compression) are not supported"
            )
        }
    }

    /// A Boolean value indicating whether the header is one of OS/2 2, in which compressions have other numbers.
    private var isOS2: Bool { !isCore && ![40, 52, 56, 108, 124].contains(length) }

    /// Returns `true` for valid but unsupported codings: JPEG and PNG.
    private static func isKnown(compression: Int, bitsPerPixel bits: Int) -> Bool {
        switch (compression, bits) {
        case (4, 24), (4, 0), (5, 0), (5, 24), (5, 32), (4, 32): true
        default: false
        }
    }

    /// The range of the colour profile within the file; `nil` if there is none, or a link to another file.
    ///
    /// - SeeAlso: Windows GDI, `BITMAPV5HEADER`.
    var profile: Range<Int>? {
        let offset = uint32(at: 112)
        let count = uint32(at: 116)
        guard length >= 124, uint32(at: 56) == 0x4d42_4544, count > 0, count <= ICCProfile.maximumSize,
            bytes.slice(at: start + offset, count: count) != nil
        else { return nil }
        return start + offset..<start + offset + count
    }

    /// Returns the positions of red, green, blue and alpha; `nil` if the masks behind the header are not in the bytes
    /// yet.
    func channels() throws(EideticError) -> [eidetic_bitmap_channel]? {
        guard bitsPerPixel >= 16 else { return [] }
        guard hasMasks else { return try Self.channels(masks: defaultMasks) }
        guard let red = bytes.littleEndian32(at: start + 40), let green = bytes.littleEndian32(at: start + 44),
            let blue = bytes.littleEndian32(at: start + 48)
        else { return nil }
        var masks = [red, green, blue, length >= 56 ? uint32(at: 52) : 0]
        if length == 40, uint32(at: 16) == 6 {
            guard let alpha = bytes.littleEndian32(at: start + 52) else { return nil }
            masks[3] = alpha
        }
        if masks.allSatisfy({ $0 == 0 }) { masks = defaultMasks }
        return try Self.channels(masks: masks)
    }

    /// A Boolean value indicating whether the compression is that with masks, or of Windows CE with one of alpha too.
    private var hasMasks: Bool { !isCore && bitsPerPixel >= 16 && [3, 6].contains(uint32(at: 16)) }

    /// The default masks of Windows; with them, as in browsers, only icons have alpha, and headers of version 4 and 5
    /// that state it.
    private var defaultMasks: [Int] {
        guard bitsPerPixel != 16 else { return [0x7c00, 0x03e0, 0x001f, 0] }
        let alpha = isIcon ? 0xff00_0000 : length >= 108 ? uint32(at: 52) & 0xff00_0000 : 0
        return [0xff0000, 0xff00, 0xff, bitsPerPixel == 32 ? alpha : 0]
    }

    private static func channels(masks: [Int]) throws(EideticError) -> [eidetic_bitmap_channel] {
        var channels: [eidetic_bitmap_channel] = []
        for mask in masks {
            channels.append(try channel(mask: UInt32(truncatingIfNeeded: mask), isAlpha: channels.count == 3))
        }
        return channels
    }

    private static func channel(mask: UInt32, isAlpha: Bool) throws(EideticError) -> eidetic_bitmap_channel {
        let shift = mask == 0 ? 0 : mask.trailingZeroBitCount
        let maximum = mask >> UInt32(shift)
        guard maximum & (maximum &+ 1) == 0 else {
            throw EideticError(.corrupt, message: "BMP: the bits of a colour mask are not contiguous")
        }
        return .init(
            mask: mask,
            shift: UInt32(shift),
            maximum: maximum,
            output_maximum: maximum == 0 && !isAlpha ? 0 : 255
        )
    }

    /// Returns the palette's offset, its number of colours and its bytes per colour.
    func palette(pixelOffset: Int?) -> (offset: Int, count: Int, stride: Int) {
        let offset = start + length + (length == 40 && hasMasks ? uint32(at: 16) == 3 ? 12 : 16 : 0)
        let stride = isCore ? 3 : 4
        let declaredCount = uint32(at: 32)
        guard bitsPerPixel <= 8 else { return (offset, pixelOffset == nil ? min(declaredCount, 256) : 0, stride) }
        let count = declaredCount == 0 || isCore ? 1 << bitsPerPixel : declaredCount
        // As in browsers, a palette that reaches into the pixels is read as a whole.
        return (offset, min(count, 1 << bitsPerPixel), stride)
    }
}
