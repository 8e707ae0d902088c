import CPixels
package import EideticCore

/// Scales pixels down: a box average to about twice the target size, then a Lanczos filter.
///
/// The average costs a fraction of the filter, and the combined loss is invisible (48 dB or more against the filter
/// alone).
package enum Resampler {
    /// Returns the pixels at a smaller size; pixels with alpha become premultiplied.
    ///
    /// Transparent pixels do not bleed: colours are weighted by alpha.
    ///
    /// - Parameters:
    ///   - pixels: The pixels to scale.
    ///   - size: The target size, at most the size of `pixels`.
    /// - Returns: The scaled pixels.
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
                eidetic_pixels_average(
                    source.kernelSource(stride: pixels.bytesPerRow, size: size),
                    eidetic_cell(width: cellWidth, height: cellHeight),
                    pixels.alpha == .straight ? 1 : 0,
                    target.kernelTarget(stride: stride),
                    scratch.bytes.baseAddress
                )
            }
        }
    }

    /// Applies the Lanczos filter to an image, or to the cell averages of an image whose size was `extent`.
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
                    bytes.kernelSource(stride: pixels.bytesPerRow, size: source),
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
                    target.kernelTarget(stride: stride)
                )
            }
        }
    }
}

extension PixelBuffer.Alpha {
    fileprivate var whenPremultiplied: Self { self == .opaque ? .opaque : .premultiplied }
}
