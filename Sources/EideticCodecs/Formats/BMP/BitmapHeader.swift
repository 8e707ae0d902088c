import CBitmap
import EideticCore

/// What the headers of a Windows or OS/2 bitmap say.
///
/// All versions are read: OS/2 1 (12 bytes), OS/2 2 (16 to 64) and Windows 3 to 5 (40, 52, 56, 108, 124). Not decoded
/// are the rare codings that no other decoder shows either: Huffman and RLE24 of OS/2, embedded JPEG and PNG, and
/// Windows CE's alpha masks.
struct BMPHeader {
    /// How pixels are coded.
    enum Coding {
        case indexed, bitFields, runLength
    }

    /// Width and height; of an icon the height of the picture alone.
    let size: PixelSize
    /// Whether the first stored row is the upper one.
    let isTopDown: Bool
    /// Bits a pixel.
    let bitsPerPixel: Int
    let coding: Coding
    /// Where the channels lie, for `fields`.
    let channels: [eidetic_bitmap_channel]
    /// Where the palette begins, how many colours it has, and how many bytes each.
    let palette: (offset: Int, count: Int, stride: Int)
    /// Where the pixels begin.
    let pixelOffset: Int

    /// Whether pixels have an alpha channel.
    var hasAlpha: Bool { coding == .bitFields && channels[3].maximum != 0 }

    /// Bytes from one stored row to the next one: rows begin at multiples of four.
    var bytesPerRow: Int { (size.width * bitsPerPixel + 31) / 32 * 4 }
}

extension BMPHeader {
    /// Reads the header of a file.
    ///
    /// - Returns: `nil` where `bytes` end within it.
    static func parseFile(_ bytes: UnsafeRawBufferPointer) throws(EideticError) -> BMPHeader? {
        // An array of bitmaps for several screens has a header of its own before the first one's.
        let start = bytes.littleEndian16(at: 0) == 0x4142 ? 14 : 0
        guard let magic = bytes.littleEndian16(at: start), let pixels = bytes.littleEndian32(at: start + 10) else {
            return nil
        }
        guard magic == 0x4d42 else {
            throw .init(.corrupt, message: "the array of bitmaps does not begin with a bitmap")
        }
        return try parse(bytes, at: start + 14, pixelOffset: pixels, isIcon: false)
    }

    /// Reads the header of an icon's bitmap, which has no file header, and a mask below the picture.
    static func parseIcon(_ bytes: UnsafeRawBufferPointer) throws(EideticError) -> BMPHeader? {
        try parse(bytes, at: 0, pixelOffset: nil, isIcon: true)
    }

    private static func parse(
        _ bytes: UnsafeRawBufferPointer,
        at start: Int,
        pixelOffset: Int?,
        isIcon: Bool
    ) throws(EideticError) -> BMPHeader? {
        guard let length = bytes.littleEndian32(at: start) else { return nil }
        guard length == 12 || (16...124).contains(length) else {
            throw EideticError(.corrupt, message: "a bitmap header of \(length) bytes is none that is known")
        }
        guard bytes.count >= start + length else { return nil }
        let fields = BMPHeaderFields(bytes: bytes, start: start, length: length, isIcon: isIcon)
        let (size, isTopDown) = try fields.size()
        let bits = fields.bitsPerPixel
        let coding = try fields.coding()
        guard let channels = try fields.channels() else { return nil }
        let palette = fields.palette(pixelOffset: pixelOffset)
        return BMPHeader(
            size: size,
            isTopDown: isTopDown,
            bitsPerPixel: bits,
            coding: coding,
            channels: channels,
            palette: palette,
            pixelOffset: pixelOffset ?? palette.offset + palette.count * palette.stride
        )
    }
}
