import CPixels
package import EideticCore

/// Shrinks pictures: an average over whole cells to about twice the wanted size, then a Lanczos filter.
///
/// The average costs a fraction of the filter, and what the two together lose is not visible (48 dB and more against the
/// filter alone).
package enum Resampler {
    /// Gives the picture at another size, at most its own; colours with alpha come out premultiplied.
    ///
    /// Transparent pixels do not bleed: colours are weighted by alpha.
    ///
    /// - Throws: `outOfMemory`.
    /// - Complexity: O(*n*) in the pixels.
    package static func resample(_ pixels: PixelBuffer, to size: PixelSize) throws(EideticError) -> PixelBuffer {
        guard pixels.size != size else { return pixels }
        precondition(size.isPositive && size.width <= pixels.size.width && size.height <= pixels.size.height)
        let cellWidth = min(256, max(1, pixels.size.width / (2 * size.width)))
        let cellHeight = min(256, max(1, pixels.size.height / (2 * size.height)))
        guard cellWidth > 1 || cellHeight > 1 else {
            return try filter(pixels, extent: pixels.size, cell: (1, 1), to: size)
        }
        let average = try average(pixels, cellWidth: cellWidth, cellHeight: cellHeight)
        return try filter(average, extent: pixels.size, cell: (cellWidth, cellHeight), to: size)
    }

    private static func average(_ pixels: PixelBuffer, cellWidth: Int, cellHeight: Int) throws(EideticError)
        -> PixelBuffer
    {
        let size = pixels.size
        let reduced = PixelSize(
            width: (size.width + cellWidth - 1) / cellWidth,
            height: (size.height + cellHeight - 1) / cellHeight
        )
        let scratch = try ScratchBuffer(byteCount: 8 * size.width)
        return try PixelBuffer(size: reduced, alpha: pixels.alpha.whenPremultiplied) { target, stride in
            pixels.withUnsafeBytes { source in
                eidetic_pixels_box(
                    source.bytePointer,
                    pixels.bytesPerRow,
                    size.width,
                    size.height,
                    cellWidth,
                    cellHeight,
                    pixels.alpha == .straight ? 1 : 0,
                    target.bytePointer,
                    stride,
                    scratch.bytes.baseAddress
                )
            }
        }
    }

    /// Filters a picture, or the averages of cells of one whose size was `extent`.
    private static func filter(
        _ pixels: PixelBuffer,
        extent: PixelSize,
        cell: (across: Int, down: Int),
        to size: PixelSize
    ) throws(EideticError) -> PixelBuffer {
        let source = pixels.size
        let horizontal = ResamplingFilter(
            sourceLength: source.width,
            extent: Double(extent.width) / Double(cell.across),
            targetLength: size.width
        )
        let vertical = ResamplingFilter(
            sourceLength: source.height,
            extent: Double(extent.height) / Double(cell.down),
            targetLength: size.height
        )
        let scratch = try ScratchBuffer(byteCount: 4 * source.width)
        let memory = try ScratchBuffer(byteCount: 8 * size.width * source.height)
        let rows = memory.bytes.assumingMemoryBound(to: Int16.self).baseAddress
        pixels.withUnsafeBytes { bytes in
            horizontal.withKernel {
                eidetic_pixels_filter_rows(
                    bytes.bytePointer,
                    pixels.bytesPerRow,
                    source.width,
                    source.height,
                    pixels.alpha == .straight ? 1 : 0,
                    $0,
                    size.width,
                    rows,
                    scratch.bytes.bytePointer
                )
            }
        }
        let alpha = pixels.alpha.whenPremultiplied
        return try PixelBuffer(size: size, alpha: alpha) { target, stride in
            vertical.withKernel {
                eidetic_pixels_filter_columns(
                    rows,
                    size.width,
                    $0,
                    size.height,
                    alpha == .premultiplied ? 1 : 0,
                    target.bytePointer,
                    stride
                )
            }
        }
    }
}

extension PixelBuffer.Alpha {
    fileprivate var whenPremultiplied: Self { self == .opaque ? .opaque : .premultiplied }
}
