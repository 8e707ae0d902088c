import CBitmap
import EideticCore

/// The parsed headers of a Windows or OS/2 bitmap.
///
/// Supports all versions: OS/2 1 (12 bytes), OS/2 2 (16 to 64) and Windows 3 to 5 (40, 52, 56, 108, 124). Unsupported
/// are rare codings that other decoders do not support either: Huffman codes of OS/2, embedded JPEG and PNG.
struct BMPHeader {
    /// The coding of the pixels.
    enum Coding {
        case indexed, bitFields, runLength
    }

    /// The width and height; for an icon, the height without the mask.
    let size: PixelSize
    /// A Boolean value indicating whether the first stored row is the top one.
    let isTopDown: Bool
    /// The number of bits per pixel.
    let bitsPerPixel: Int
    let coding: Coding
    /// The positions of the channels within a pixel, for `bitFields`.
    let channels: [eidetic_bitmap_channel]
    /// The palette's offset, its number of colours and its bytes per colour.
    let palette: (offset: Int, count: Int, stride: Int)
    let pixelOffset: Int
    let profile: Range<Int>?

    /// A Boolean value indicating whether pixels have an alpha channel.
    var hasAlpha: Bool { coding == .bitFields && channels[3].maximum != 0 }

    /// The number of bytes from one stored row to the next: rows are aligned to four bytes.
    var bytesPerRow: Int { (size.width * bitsPerPixel + 31) / 32 * 4 }
}

extension BMPHeader {
    /// Parses the header of a file.
    ///
    /// - Returns: The header; `nil` if `bytes` end within it.
    static func parseFile(_ bytes: UnsafeRawBufferPointer) throws(EideticError) -> BMPHeader? {
        // An OS/2 bitmap array has its own header before that of the first bitmap.
        let start = bytes.littleEndian16(at: 0) == 0x4142 ? 14 : 0
        guard let magic = bytes.littleEndian16(at: start), let pixels = bytes.littleEndian32(at: start + 10) else {
            return nil
        }
        guard magic == 0x4d42 else {
            throw .init(.corrupt, message: "BMP: the bitmap array does not start with a bitmap")
        }
        return try parse(bytes, at: start + 14, pixelOffset: pixels, isIcon: false)
    }

    /// Parses the header of an icon's bitmap, which has no file header, and a mask behind its pixels.
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
            throw EideticError(.corrupt, message: "BMP: unknown header length of \(length) bytes")
        }
        guard bytes.count >= start + length else { return nil }
        let fields = BMPHeaderFields(bytes: bytes, start: start, length: length, isIcon: isIcon)
        let (size, isTopDown) = try fields.size()
        let bits = fields.bitsPerPixel
        let coding = try fields.coding()
        guard let channels = try fields.channels() else { return nil }
        let palette = fields.palette(pixelOffset: pixelOffset)
        let profile = fields.profile
        var pixels = pixelOffset ?? palette.offset + palette.count * palette.stride
        // In an icon, a profile may precede the pixels.
        if isIcon, let profile, profile.lowerBound == pixels { pixels = profile.upperBound }
        return BMPHeader(
            size: size,
            isTopDown: isTopDown,
            bitsPerPixel: bits,
            coding: coding,
            channels: channels,
            palette: palette,
            pixelOffset: pixels,
            profile: profile
        )
    }
}
