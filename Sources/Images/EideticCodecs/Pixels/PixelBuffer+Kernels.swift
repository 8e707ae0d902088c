import CPixels
import EideticCore

extension UnsafeRawBufferPointer {
    var bytePointer: UnsafePointer<UInt8>? { assumingMemoryBound(to: UInt8.self).baseAddress }

    func kernelSource(stride: Int, size: PixelSize) -> eidetic_pixels_source {
        eidetic_pixels_source(pixels: bytePointer, stride: stride, width: size.width, height: size.height)
    }

    func kernelSource(rows: Range<Int>, stride: Int, width: Int) -> eidetic_pixels_source {
        let first = bytePointer.map { $0 + rows.lowerBound * stride }
        return eidetic_pixels_source(pixels: first, stride: stride, width: width, height: rows.count)
    }
}

extension UnsafeMutableRawBufferPointer {
    var bytePointer: UnsafeMutablePointer<UInt8>? { assumingMemoryBound(to: UInt8.self).baseAddress }

    func kernelTarget(stride: Int) -> eidetic_pixels_target {
        eidetic_pixels_target(pixels: bytePointer, stride: stride)
    }

    func kernelTarget(row: Int, stride: Int) -> eidetic_pixels_target {
        eidetic_pixels_target(pixels: bytePointer.map { $0 + row * stride }, stride: stride)
    }

    /// Clamps colours to alpha if the pixels are premultiplied.
    ///
    /// A file may contain colours that exceed its alpha. Rows have no padding.
    func clampColours(for alpha: PixelBuffer.Alpha) {
        if alpha == .premultiplied { eidetic_pixels_clamp_to_alpha(bytePointer, count / 4) }
    }
}

extension PixelBuffer {
    private typealias Kernel = (eidetic_pixels_source, eidetic_pixels_target) -> Void

    /// Calls `body` with all pixels as the source of a kernel, which is valid only during the call.
    func withKernelSource<Result>(_ body: (eidetic_pixels_source) -> Result) -> Result {
        withUnsafeBytes { body($0.kernelSource(stride: bytesPerRow, size: size)) }
    }

    /// Returns the pixels with colours premultiplied by alpha.
    func premultiplied() throws(EideticError) -> PixelBuffer {
        guard alpha == .straight else { return self }
        return try map(toAlpha: .premultiplied, kernel: eidetic_pixels_premultiply)
    }

    /// Returns the pixels with straight alpha.
    func unpremultiplied() throws(EideticError) -> PixelBuffer {
        guard alpha == .premultiplied else { return self }
        return try map(toAlpha: .straight, kernel: eidetic_pixels_unpremultiply)
    }

    /// Returns the pixels without padding between rows.
    func packed() throws(EideticError) -> PixelBuffer {
        guard bytesPerRow != 4 * size.width else { return self }
        return try PixelBuffer(size: size, alpha: alpha) { target, _ in copy(to: target, orientation: .up) }
    }

    /// Returns CMYK pixels converted to RGB by multiplication.
    func convertedFromCMYK() throws(EideticError) -> PixelBuffer {
        try map(toAlpha: .opaque, kernel: eidetic_pixels_cmyk_to_rgb)
    }

    /// Returns the pixels rotated and mirrored upright.
    func oriented(_ orientation: ImageOrientation) throws(EideticError) -> PixelBuffer {
        guard orientation != .up else { return self }
        let upright = orientation.swapsDimensions ? size.transposed : size
        return try PixelBuffer(size: upright, alpha: alpha) { target, _ in copy(to: target, orientation: orientation) }
    }

    /// Copies the pixels upright to memory of as many, row after row.
    func copy(to target: UnsafeMutableRawBufferPointer, orientation: ImageOrientation) {
        withUnsafeBytes { $0.copyRows(of: size, stride: bytesPerRow, to: target, orientation: orientation) }
    }

    /// A Boolean value indicating whether red, green and blue of each pixel are equal.
    var isGrey: Bool { isCompact || withKernelSource { eidetic_pixels_pack_grey($0, nil) } != 0 }

    /// Copies alpha to pixels without padding, whose colours are undefined then.
    func copyAlpha(to target: UnsafeMutableRawBufferPointer) {
        guard alpha != .opaque else { return eidetic_pixels_make_opaque(target.bytePointer, size.pixelCount) }
        copy(to: target, orientation: .up)
    }

    private func map(toAlpha alpha: Alpha, kernel: Kernel) throws(EideticError) -> PixelBuffer {
        try PixelBuffer(size: size, alpha: alpha) { target, stride in
            withKernelSource { kernel($0, target.kernelTarget(stride: stride)) }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Copies pixels upright to memory of as many, row after row, on several threads if there are many.
    func copyRows(
        of size: PixelSize,
        stride: Int,
        to target: UnsafeMutableRawBufferPointer,
        orientation: ImageOrientation
    ) {
        let upright = orientation.swapsDimensions ? size.transposed : size
        // Safe to send: each band writes rows of its own, and both memories outlive the bands.
        nonisolated(unsafe) let source = kernelSource(stride: stride, size: size)
        nonisolated(unsafe) let target = target.kernelTarget(stride: 4 * upright.width)
        RowBands.run(rowCount: upright.height, byteCount: 4 * upright.pixelCount) { rows in
            let rows = eidetic_rows(first: rows.lowerBound, end: rows.upperBound)
            eidetic_pixels_orient(source, rows, Int32(orientation.rawValue), target)
        }
    }
}
