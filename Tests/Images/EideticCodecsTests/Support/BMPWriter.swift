/// Returns a BMP file, or an icon's bitmap, with the 40-byte header of Windows 3.
func makeBMP(
    width: Int32,
    height: Int32,
    bitsPerPixel: UInt16,
    compression: UInt32 = 0,
    tables: [UInt32] = [],
    pixels: [UInt8],
    isIcon: Bool = false
) -> [UInt8] {
    func littleEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
    let colors = UInt32(bitsPerPixel <= 8 ? tables.count : 0)
    var header =
        littleEndian(UInt32(40)) + littleEndian(width) + littleEndian(isIcon ? 2 * height : height)
        + littleEndian(UInt16(1))
    header +=
        littleEndian(bitsPerPixel) + littleEndian(compression) + littleEndian(UInt32(pixels.count))
        + littleEndian(UInt32(0)) + littleEndian(UInt32(0))
    header += littleEndian(colors) + littleEndian(UInt32(0)) + tables.flatMap { littleEndian($0) }
    guard !isIcon else { return header + pixels }
    let offset = UInt32(14 + header.count)
    return Array("BM".utf8) + littleEndian(offset + UInt32(pixels.count)) + littleEndian(UInt32(0))
        + littleEndian(offset) + header
        + pixels
}

/// Returns an icon with one entry per image.
func makeICO(images: [(side: UInt8, bytes: [UInt8])]) -> [UInt8] {
    var directory: [UInt8] = [0, 0, 1, 0, UInt8(images.count), 0]
    var offset = 6 + 16 * images.count
    for (side, bytes) in images {
        directory += [side, side, 0, 0, 1, 0, 32, 0]
        directory += [UInt8(bytes.count & 255), UInt8(bytes.count >> 8), 0, 0]
        directory += [UInt8(offset & 255), UInt8(offset >> 8), 0, 0]
        offset += bytes.count
    }
    return directory + images.flatMap(\.bytes)
}
