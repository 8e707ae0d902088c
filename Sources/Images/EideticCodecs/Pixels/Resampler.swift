import CPixels
package import EideticCore

/// Scales pixels: a Lanczos filter, and before it, for a small target, a box average to about twice the target size.
///
/// The average costs a fraction of the filter, and the combined loss is invisible (48 dB or more against the filter
/// alone).
package enum Resampler {
    /// The intermediate size: cells of source pixels are averaged first.
    private struct Cells {
        let across: Int
        let down: Int
        let size: PixelSize

        init(of source: PixelSize, to size: PixelSize) {
            across = min(256, max(1, source.width / (2 * size.width)))
            down = min(256, max(1, source.height / (2 * size.height)))
            self.size = PixelSize(
                width: (source.width + across - 1) / across,
                height: (source.height + down - 1) / down
            )
        }
    }

    /// Returns the pixels at another size; pixels with alpha become premultiplied.
    ///
    /// Transparent pixels do not bleed: colours are weighted by alpha.
    ///
    /// - Parameters:
    ///   - pixels: The pixels to scale.
    ///   - size: The target size.
    ///   - checkpoint: Called every few rows; an error that it throws ends the function.
    /// - Returns: The scaled pixels.
    /// - Throws: `outOfMemory`, and the errors of `checkpoint`.
    /// - Complexity: O(*n*) in the pixels.
    package static func resample(
        _ pixels: PixelBuffer,
        to size: PixelSize,
        checkpoint: () throws(EideticError) -> Void = {}
    ) throws(EideticError) -> PixelBuffer {
        guard pixels.size != size else { return pixels }
        precondition(size.isPositive)
        let pixels = try pixels.expanded()
        let cells = Cells(of: pixels.size, to: size)
        let average = cells.size == pixels.size ? pixels : try average(pixels, cells: cells, checkpoint: checkpoint)
        return try filter(average, extent: pixels.size, cells: cells, to: size, checkpoint: checkpoint)
    }

    /// Returns the pixels of a decode at a smaller size, with the checkpoints of its task.
    static func resample(
        _ pixels: PixelBuffer,
        to size: PixelSize,
        for task: DecodeTask
    ) throws(EideticError) -> PixelBuffer {
        try resample(pixels, to: size) { () throws(EideticError) in try task.checkpoint() }
    }

    /// Returns the memory that ``resample(_:to:checkpoint:)`` needs beside its argument and its result, in bytes.
    static func scratchByteCount(from source: PixelSize, to size: PixelSize) -> Int {
        guard source != size, size.isPositive, size.width <= source.width, size.height <= source.height else {
            return 0
        }
        let cells = Cells(of: source, to: size)
        let average = cells.size == source ? 0 : 4 * cells.size.pixelCount + 8 * source.width
        let taps = ResamplingFilter.taps(sourceLength: cells.size.height, targetLength: size.height)
        let window = Window(taps: taps, width: size.width, sourceHeight: cells.size.height)
        return average + 4 * cells.size.width + 8 * size.width * window.rowCount
            + ResamplingFilter.byteCount(sourceLength: cells.size.width, targetLength: size.width)
            + ResamplingFilter.byteCount(sourceLength: cells.size.height, targetLength: size.height)
    }

    /// The rows between both passes of the filter, few enough for a processor's cache.
    private struct Window {
        let rowCount: Int
        /// The number of rows that the targets of a band cover, beside those of the filter.
        let bandLength: Int

        private static let byteCount = 256 << 10

        /// A row has `width` pixels of eight bytes.
        init(taps: Int, width: Int, sourceHeight: Int) {
            let count = max(2 * taps, Self.byteCount / (8 * width))
            bandLength = count - taps
            rowCount = min(sourceHeight, count + 2)
        }
    }

    /// Calls `body` with successive ranges of `height` rows, of about a million pixels each, and `checkpoint` before
    /// each; every range but the last is a multiple of `step` rows.
    private static func forEachBand(
        height: Int,
        width: Int,
        step: Int = 1,
        checkpoint: () throws(EideticError) -> Void,
        body: (Range<Int>) -> Void
    ) throws(EideticError) {
        let count = max(1, (1 << 20) / (width * step)) * step
        for first in stride(from: 0, to: height, by: count) {
            try checkpoint()
            body(first..<min(first + count, height))
        }
    }

    private static func average(
        _ pixels: PixelBuffer,
        cells: Cells,
        checkpoint: () throws(EideticError) -> Void
    ) throws(EideticError) -> PixelBuffer {
        let size = pixels.size
        let scratch = try ScratchBuffer(byteCount: 8 * size.width)
        let sums = scratch.bytes.baseAddress
        let alpha = pixels.alpha.whenPremultiplied
        return try PixelBuffer(size: cells.size, alpha: alpha) { target, stride throws(EideticError) in
            let all = pixels.unsafeBytes
            let rows = UnsafeMutableRawBufferPointer(target)
            try forEachBand(height: size.height, width: size.width, step: cells.down, checkpoint: checkpoint) { band in
                eidetic_pixels_average(
                    all.kernelSource(rows: band, stride: pixels.bytesPerRow, width: size.width),
                    eidetic_cell(width: cells.across, height: cells.down),
                    pixels.alpha == .straight ? 1 : 0,
                    rows.kernelTarget(row: band.lowerBound / cells.down, stride: stride),
                    sums
                )
            }
        }
    }

    /// Applies the Lanczos filter to an image, or to the cell averages of an image whose size was `extent`.
    private static func filter(
        _ pixels: PixelBuffer,
        extent: PixelSize,
        cells: Cells,
        to size: PixelSize,
        checkpoint: () throws(EideticError) -> Void
    ) throws(EideticError) -> PixelBuffer {
        let horizontal = try ResamplingFilter(
            sourceLength: cells.size.width,
            extent: Double(extent.width) / Double(cells.across),
            targetLength: size.width,
            checkpoint: checkpoint
        )
        let vertical = try ResamplingFilter(
            sourceLength: cells.size.height,
            extent: Double(extent.height) / Double(cells.down),
            targetLength: size.height,
            checkpoint: checkpoint
        )
        let window = Window(taps: vertical.taps, width: size.width, sourceHeight: cells.size.height)
        let memory = try ScratchBuffer(byteCount: 8 * size.width * window.rowCount)
        guard let rows = memory.bytes.assumingMemoryBound(to: Int16.self).baseAddress else { return pixels }
        let scratch = try ScratchBuffer(byteCount: 4 * pixels.size.width)
        let row = scratch.bytes.bytePointer
        let premultiplies: Int32 = pixels.alpha == .straight ? 1 : 0
        let alpha = pixels.alpha.whenPremultiplied
        let clamps: Int32 = alpha == .opaque ? 0 : 1
        let rowLength = 4 * size.width
        // The rows of the source that are in the window.
        var filtered = 0..<0
        let bandHeight = max(1, window.bandLength * size.height / cells.size.height)
        return try PixelBuffer(size: size, alpha: alpha) { target, stride throws(EideticError) in
            for first in Swift.stride(from: 0, to: size.height, by: bandHeight) {
                try checkpoint()
                let band = first..<min(first + bandHeight, size.height)
                let needed = vertical.sources(of: band)
                let kept = max(filtered.lowerBound, needed.lowerBound)..<max(filtered.upperBound, needed.lowerBound)
                let start = rows + rowLength * (kept.lowerBound - filtered.lowerBound)
                rows.update(from: start, count: rowLength * kept.count)
                filtered = kept.lowerBound..<max(kept.upperBound, needed.upperBound)
                let new = pixels.unsafeBytes.kernelSource(
                    rows: kept.upperBound..<filtered.upperBound,
                    stride: pixels.bytesPerRow,
                    width: pixels.size.width
                )
                let end = rows + rowLength * kept.count
                horizontal.withKernel { eidetic_pixels_filter_rows(new, premultiplies, $0, size.width, end, row) }
                vertical.withKernel(from: band.lowerBound) { kernel in
                    let (row, target) = (filtered.lowerBound, target.kernelTarget(row: band.lowerBound, stride: stride))
                    eidetic_pixels_filter_columns(rows, row, size.width, kernel, band.count, clamps, target)
                }
            }
        }
    }
}

extension PixelBuffer.Alpha {
    fileprivate var whenPremultiplied: Self { self == .opaque ? .opaque : .premultiplied }
}
