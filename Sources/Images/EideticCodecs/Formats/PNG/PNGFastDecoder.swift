import CDeflate
import CPixels
import EideticCore

/// A fast path for common PNGs: 8 bits per channel, not interlaced.
///
/// libdeflate takes little more than half of zlib's time, and rows are converted while they are in the processor's
/// cache. Unusual and corrupt images are left to libpng, which decodes incrementally and reports the error.
struct PNGFastDecoder {
    private let structure: PNGStructure
    private let size: PixelSize
    private let data: [UnsafeRawBufferPointer]
    private let channels: Int

    /// The number of rows between two checkpoints; they stay in the processor's cache.
    private static let rowsPerCheckpoint = 16

    /// The maximum number of uncompressed bytes: decompression cannot be interrupted, so it must be short.
    private static let maximumByteCount = 128 << 20

    /// Creates a decoder; `nil` if the image needs libpng.
    init?(_ structure: PNGStructure, size: PixelSize, data: [UnsafeRawBufferPointer]) {
        let channels = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4]
        guard structure.depth == 8, structure.isStandard, !structure.isInterlaced, !data.isEmpty,
            let count = channels[structure.colorType], structure.colorType != 3 || structure.palette != nil,
            size.pixelCount <= Self.maximumByteCount / count - size.height
        else { return nil }
        self.structure = structure
        self.size = size
        self.data = data
        self.channels = count
    }

    private var rowLength: Int { size.width * channels }

    /// Decodes the pixels; `nil` if they are invalid.
    func decode(for task: DecodeTask) throws(EideticError) -> PixelBuffer? {
        let rows = try ScratchBuffer(byteCount: (rowLength + 1) * size.height)
        guard try inflate(into: rows.bytes), let raw = rows.bytes.bytePointer else { return nil }
        let zeroRow = [UInt8](repeating: 0, count: rowLength)
        var isValid = true
        let pixels = try PixelBuffer(size: size, alpha: structure.hasAlpha ? .straight : .opaque) {
            target,
            stride throws(EideticError) in
            guard let base = target.bytePointer else { return }
            for first in Swift.stride(from: 0, to: size.height, by: Self.rowsPerCheckpoint) {
                try task.checkpoint()
                let count = min(Self.rowsPerCheckpoint, size.height - first)
                let start = raw + first * (rowLength + 1)
                let unfilteredCount =
                    first == 0
                    ? eidetic_png_unfilter(start, rowLength, count, channels, zeroRow)
                    : eidetic_png_unfilter(start, rowLength, count, channels, start - rowLength)
                guard unfilteredCount == count else { isValid = false; return }
                for y in 0..<count { expand(start + y * (rowLength + 1) + 1, to: base + (first + y) * stride) }
            }
        }
        return isValid ? pixels : nil
    }

    /// Decompresses the rows.
    ///
    /// - Returns: `true` if the length and the checksum match; otherwise, `false`.
    private func inflate(into rows: UnsafeMutableRawBufferPointer) throws(EideticError) -> Bool {
        guard let inflater = libdeflate_alloc_decompressor() else { return false }
        defer { libdeflate_free_decompressor(inflater) }
        func decompress(_ stream: UnsafeRawBufferPointer) -> Bool {
            let target = rows.baseAddress
            let count = rows.count
            return libdeflate_zlib_decompress(inflater, stream.baseAddress, stream.count, target, count, nil)
                == LIBDEFLATE_SUCCESS
        }
        if data.count == 1 { return decompress(data[0]) }
        let joinedData = try ScratchBuffer(byteCount: data.reduce(0) { $0 + $1.count })
        var count = 0
        for part in data {
            UnsafeMutableRawBufferPointer(rebasing: joinedData.bytes[count...]).copyMemory(from: part)
            count += part.count
        }
        return decompress(UnsafeRawBufferPointer(joinedData.bytes))
    }

    /// Converts one row to R, G, B, A.
    private func expand(_ row: UnsafeMutablePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>) {
        switch structure.colorType {
        case 3: eidetic_pixels_map_indices(row, size.width, structure.paletteColours, target)
        case 6: target.update(from: row, count: rowLength)
        default: eidetic_pixels_expand(row, size.width, Int32(channels), target)
        }
        guard let key = structure.transparentColour else { return }
        eidetic_pixels_key_out(target, size.width, key.x, key.y, key.z)
    }
}
