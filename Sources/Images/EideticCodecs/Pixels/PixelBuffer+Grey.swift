import CPixels
package import EideticCore
import Synchronization

extension PixelBuffer {
    /// Returns the pixels with one byte each in memory if all are opaque and grey; otherwise, the buffer itself.
    package func compacted() -> PixelBuffer {
        guard alpha == .opaque, !isCompact, isProbablyGrey,
            let block = PixelMemory.allocate(byteCount: size.pixelCount, mayBeLent: false)
        else { return self }
        let isGrey = withUnsafeBytes { bytes in
            // Safe to send: each band has rows of its own, and both memories outlive the bands.
            nonisolated(unsafe) let bytes = bytes
            let isGrey = Atomic(true)
            RowBands.run(rowCount: size.height, byteCount: bytes.count) { [self] rows in
                let source = bytes.kernelSource(rows: rows, stride: bytesPerRow, width: size.width)
                let target = block.memory.assumingMemoryBound(to: UInt8.self) + rows.lowerBound * size.width
                if eidetic_pixels_pack_grey(source, target) == 0 { isGrey.store(false, ordering: .relaxed) }
            }
            return isGrey.load(ordering: .relaxed)
        }
        guard isGrey else {
            PixelMemory.deallocate(block)
            return self
        }
        return PixelBuffer(grey: block, size: size, expand: Self.expandGrey)
    }

    /// A Boolean value indicating whether red, green and blue are equal in some rows; nearly all images in colours
    /// differ there, so that no memory is allocated for them.
    private var isProbablyGrey: Bool {
        let step = (size.height + 7) / 8
        let sample = PixelSize(width: size.width, height: size.height / step)
        return withUnsafeBytes {
            eidetic_pixels_pack_grey($0.kernelSource(stride: step * bytesPerRow, size: sample), nil) != 0
        }
    }

    private static func expandGrey(_ grey: UnsafeRawBufferPointer, to pixels: UnsafeMutableRawBufferPointer) {
        // Safe to send: as above.
        nonisolated(unsafe) let (grey, pixels) = (grey, pixels)
        RowBands.run(rowCount: grey.count, byteCount: pixels.count) { band in
            let source = UnsafeRawBufferPointer(rebasing: grey[band]).bytePointer
            let target = UnsafeMutableRawBufferPointer(rebasing: pixels[(4 * band.lowerBound)...]).bytePointer
            eidetic_pixels_expand(source, band.count, 1, target)
        }
    }
}

extension Image {
    /// Returns a still image with its pixels compacted; an animation as it is.
    package func compacted() -> Image {
        guard !isAnimated, isDecoded else { return self }
        let pixels = pixels, compact = pixels.compacted()
        return compact === pixels ? self : replacingFrames([Frame(pixels: compact, duration: frames[0].duration)])
    }

    /// Returns the image with four bytes a pixel in memory, for a function that reads the pixels several times.
    ///
    /// - Throws: `outOfMemory`.
    func expanded() throws(EideticError) -> Image {
        guard !isAnimated, pixels.isCompact else { return self }
        return replacingFrames([Frame(pixels: try pixels.expanded(), duration: frames[0].duration)])
    }
}
