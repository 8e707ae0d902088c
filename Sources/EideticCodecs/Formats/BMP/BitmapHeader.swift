import CBitmap
import EideticCore

/// What the headers of a Windows or OS/2 bitmap say.
///
/// All versions are read: OS/2 1 (12 bytes), OS/2 2 (16 to 64) and Windows 3 to 5 (40, 52, 56, 108, 124). Not decoded
/// are the rare codings that no other decoder shows either: Huffman and RLE24 of OS/2, embedded JPEG and PNG, and
/// Windows CE's alpha masks.
struct BitmapHeader {
    /// How pixels are coded.
    enum Coding {
        case indexed, fields, runs
    }

    /// Width and height; of an icon the height of the picture alone.
    let size: PixelSize
    /// Whether the first stored row is the upper one.
    let isTopDown: Bool
    /// Bits a pixel.
    let bits: Int
    let coding: Coding
    /// Where the channels lie, for `fields`.
    let channels: [eidetic_bitmap_channel]
    /// Where the palette begins, how many colours it has, and how many bytes each.
    let palette: (offset: Int, count: Int, stride: Int)
    /// Where the pixels begin.
    let pixels: Int

    /// Whether pixels have an alpha channel.
    var hasAlpha: Bool { coding == .fields && channels[3].maximum != 0 }

    /// Bytes from one stored row to the next one: rows begin at multiples of four.
    var bytesPerRow: Int { (size.width * bits + 31) / 32 * 4 }
}

extension BitmapHeader {
    /// Reads the header of a file.
    ///
    /// - Returns: `nil` where `bytes` end within it.
    static func file(_ bytes: UnsafeRawBufferPointer) throws(EideticError) -> BitmapHeader? {
        // An array of bitmaps for several screens has a header of its own before the first one's.
        let start = bytes.little16(0) == 0x4142 ? 14 : 0
        guard let magic = bytes.little16(start), let pixels = bytes.little32(start + 10) else { return nil }
        guard magic == 0x4d42 else { throw .init(.corrupt, "the array of bitmaps does not begin with a bitmap") }
        return try read(bytes, at: start + 14, pixels: pixels, isIcon: false)
    }

    /// Reads the header of an icon's bitmap, which has no file header, and a mask below the picture.
    static func icon(_ bytes: UnsafeRawBufferPointer) throws(EideticError) -> BitmapHeader? {
        try read(bytes, at: 0, pixels: nil, isIcon: true)
    }

    private static func read(
        _ bytes: UnsafeRawBufferPointer,
        at start: Int,
        pixels: Int?,
        isIcon: Bool
    ) throws(EideticError) -> BitmapHeader? {
        guard let length = bytes.little32(start) else { return nil }
        guard length == 12 || (16...124).contains(length) else {
            throw EideticError(.corrupt, "a bitmap header of \(length) bytes is none that is known")
        }
        guard bytes.count >= start + length else { return nil }
        let fields = BitmapFields(bytes: bytes, start: start, length: length, isIcon: isIcon)
        let (size, isTopDown) = try fields.size()
        let bits = fields.bits
        let coding = try fields.coding()
        guard let channels = try fields.channels() else { return nil }
        let colors = fields.colors(pixels: pixels)
        return BitmapHeader(
            size: size,
            isTopDown: isTopDown,
            bits: bits,
            coding: coding,
            channels: channels,
            palette: colors,
            pixels: pixels ?? colors.offset + colors.count * colors.stride
        )
    }
}
