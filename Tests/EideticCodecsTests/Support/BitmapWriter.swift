/// A bitmap of bits a pixel, compression and pixels; with Windows 3's header of 40 bytes.
func bitmap(
    width: Int32,
    height: Int32,
    bits: UInt16,
    compression: UInt32 = 0,
    tables: [UInt32] = [],
    pixels: [UInt8],
    isIcon: Bool = false
) -> [UInt8] {
    func little<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
    let colors = UInt32(bits <= 8 ? tables.count : 0)
    var header = little(UInt32(40)) + little(width) + little(isIcon ? 2 * height : height) + little(UInt16(1))
    header += little(bits) + little(compression) + little(UInt32(pixels.count)) + little(UInt32(0)) + little(UInt32(0))
    header += little(colors) + little(UInt32(0)) + tables.flatMap { little($0) }
    guard !isIcon else { return header + pixels }
    let offset = UInt32(14 + header.count)
    return Array("BM".utf8) + little(offset + UInt32(pixels.count)) + little(UInt32(0)) + little(offset) + header
        + pixels
}

/// An icon with one entry for each picture; sides are in the first 12 bytes of a picture's header.
func icon(_ pictures: [(side: UInt8, bytes: [UInt8])]) -> [UInt8] {
    var directory: [UInt8] = [0, 0, 1, 0, UInt8(pictures.count), 0]
    var offset = 6 + 16 * pictures.count
    for (side, bytes) in pictures {
        directory += [side, side, 0, 0, 1, 0, 32, 0]
        directory += [UInt8(bytes.count & 255), UInt8(bytes.count >> 8), 0, 0]
        directory += [UInt8(offset & 255), UInt8(offset >> 8), 0, 0]
        offset += bytes.count
    }
    return directory + pictures.flatMap(\.bytes)
}
