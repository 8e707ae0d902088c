import EideticCore

/// Pixels as they are in memory, as the disk keeps small derived images.
///
/// The file has a head of 16 bytes: the signature with the meaning of the fourth byte of a pixel, the width and the
/// height in little-endian order. The rows follow without padding.
enum RawPixels {
    private static let signature = Array("EIDRAW".utf8)
    private static let headSize = 16
    private static let alphas: [PixelBuffer.Alpha] = [.opaque, .straight, .premultiplied]

    /// Returns whether a file begins with the signature.
    static func matches(_ bytes: [UInt8]) -> Bool { bytes.starts(with: signature) }

    /// Returns a file of pixels.
    static func encode(_ pixels: PixelBuffer) -> [UInt8] {
        let rowSize = 4 * pixels.size.width
        var file = signature + [UInt8(alphas.firstIndex(of: pixels.alpha) ?? 0), 0]
        file.reserveCapacity(headSize + rowSize * pixels.size.height)
        for side in [pixels.size.width, pixels.size.height] {
            withUnsafeBytes(of: UInt32(side).littleEndian) { file.append(contentsOf: $0) }
        }
        pixels.withUnsafeBytes { source in
            for y in 0..<pixels.size.height {
                file.append(contentsOf: source[y * pixels.bytesPerRow..<y * pixels.bytesPerRow + rowSize])
            }
        }
        return file
    }

    /// Returns the pixels of a file; `nil` if its length or its head is wrong.
    static func decode(_ file: [UInt8]) throws(EideticError) -> PixelBuffer? {
        guard matches(file), file.count > headSize, alphas.indices.contains(Int(file[6])) else { return nil }
        let (width, height) = (side(in: file, at: 8), side(in: file, at: 12))
        let limit = DerivedImageCoding.rawPixelCount
        guard width <= limit, height <= limit, file.count == headSize + 4 * width * height else { return nil }
        let size = PixelSize(width: width, height: height)
        return try PixelBuffer(size: size, alpha: alphas[Int(file[6])]) { target, _ in
            file.withUnsafeBytes { target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[headSize...])) }
        }
    }

    private static func side(in file: [UInt8], at offset: Int) -> Int {
        Int(file.withUnsafeBytes { UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) })
    }
}
