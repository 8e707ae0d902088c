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
        let across = min(256, max(1, pixels.size.width / (2 * size.width)))
        let down = min(256, max(1, pixels.size.height / (2 * size.height)))
        guard across > 1 || down > 1 else { return try filter(pixels, extent: pixels.size, by: (1, 1), to: size) }
        let average = try average(pixels, across, down)
        return try filter(average, extent: pixels.size, by: (across, down), to: size)
    }

    private static func average(_ pixels: PixelBuffer, _ across: Int, _ down: Int) throws(EideticError) -> PixelBuffer {
        let size = pixels.size
        let reduced = PixelSize(
            width: (size.width + across - 1) / across,
            height: (size.height + down - 1) / down
        )
        let scratch = try ScratchMemory(byteCount: 8 * size.width)
        return try PixelBuffer(size: reduced, alpha: pixels.alpha.whenPremultiplied) { target, stride in
            pixels.withUnsafeBytes { source in
                eidetic_pixels_box(
                    source.bytePointer,
                    pixels.bytesPerRow,
                    size.width,
                    size.height,
                    across,
                    down,
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
        by cell: (across: Int, down: Int),
        to size: PixelSize
    ) throws(EideticError) -> PixelBuffer {
        let source = pixels.size
        let horizontal = ResamplingFilter(
            length: source.width,
            extent: Double(extent.width) / Double(cell.across),
            target: size.width
        )
        let vertical = ResamplingFilter(
            length: source.height,
            extent: Double(extent.height) / Double(cell.down),
            target: size.height
        )
        let scratch = try ScratchMemory(byteCount: 4 * source.width)
        let memory = try ScratchMemory(byteCount: 8 * size.width * source.height)
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
