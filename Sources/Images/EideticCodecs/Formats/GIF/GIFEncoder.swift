import CGIF
import CPixels
import EideticCore

/// GIF by giflib, with at most 256 colours per frame, one of which is transparency's where a frame may have any.
enum GIFEncoder: FormatEncoder {
    static let format = ImageFormat.gif
    static let isAnimated = true
    static let qualityScale: QualityScale? = nil

    static func encode(_ image: Image, quality: Double, options: EncodeOptions) throws(EideticError) -> [UInt8] {
        guard image.size.width <= 65_535, image.size.height <= 65_535 else {
            throw EideticError(
                .encodingFailed,
                message: "GIF: the image has \(image.size) pixels; the limit is 65535 per side"
            )
        }
        // One of the 256 places is that of transparency.
        let image = try image.reduced(toColours: options.maximumColorCount.map { min($0, 255) }, for: format)
        let writer = GIFWriter()
        try writer.writeHeader(size: image.size)
        if image.isAnimated, image.loopCount != 1 { try writer.writeLoopExtension(count: image.loopCount) }
        for (index, delay) in delays(of: image.frames.map(\.duration)) {
            try writer.write(image.frames[index], delay: delay)
        }
        return try writer.finish()
    }

    /// Returns the frames to write and their delays in hundredths of a second.
    ///
    /// Players take a delay of less than 2 for one of 10. A frame that would have 1 gets 2, at the cost of the next;
    /// one for which nothing remains is left out, but not the last. What rounding leaves is carried on, so that the sum
    /// stays within one hundredth. Frames without any duration are all written without a delay.
    static func delays(of durations: [Duration]) -> [(index: Int, delay: Int)] {
        guard durations.count > 1, durations.contains(where: { $0 > .zero }) else {
            return durations.indices.map { ($0, hundredths(durations[$0])) }
        }
        var delays: [(index: Int, delay: Int)] = []
        var end = Duration.zero
        var written = 0
        for (index, duration) in durations.enumerated() {
            end += max(.zero, duration)
            let rest = hundredths(end) - written
            guard rest > 0 else {
                // The last frame stays on the screen.
                if index == durations.count - 1, !delays.isEmpty { delays[delays.count - 1].index = index }
                continue
            }
            let delay = min(65_535, max(2, rest))
            delays.append((index, delay))
            written += max(delay, rest)
        }
        return delays.isEmpty ? [(0, 2)] : delays
    }

    /// Returns the whole hundredths of a second of a duration, but for what its unit may have rounded off.
    private static func hundredths(_ duration: Duration) -> Int {
        Int(min(1e15, max(0, (duration.inMilliseconds / 10 + 0.001).rounded(.down))))
    }
}

/// The output of giflib.
private final class GIFWriter {
    private var bytes: [UInt8] = []
    private var file: UnsafeMutablePointer<GifFileType>?

    deinit { if let file { EGifCloseFile(file, nil) } }

    func writeHeader(size: PixelSize) throws(EideticError) {
        // The file does not outlive this object, which owns it.
        let owner = Unmanaged.passUnretained(self).toOpaque()
        file = EGifOpen(
            owner,
            { file, source, count in
                guard let owner = file?.pointee.UserData, let source else { return 0 }
                let writer = Unmanaged<GIFWriter>.fromOpaque(owner).takeUnretainedValue()
                writer.bytes += UnsafeBufferPointer(start: source, count: Int(count))
                return count
            },
            nil
        )
        EGifSetGifVersion(file, true)
        try check(EGifPutScreenDesc(file, Int32(size.width), Int32(size.height), 8, 0, nil))
    }

    func writeLoopExtension(count: Int?) throws(EideticError) {
        let repeats = count.map { min(65_535, max(1, $0 - 1)) } ?? 0
        try check(EGifPutExtensionLeader(file, APPLICATION_EXT_FUNC_CODE))
        try check(EGifPutExtensionBlock(file, 11, Array("NETSCAPE2.0".utf8)))
        try check(EGifPutExtensionBlock(file, 3, [1, UInt8(repeats & 255), UInt8(repeats >> 8)]))
        try check(EGifPutExtensionTrailer(file))
    }

    /// Writes a full frame; its transparent pixels replace those of the previous frame.
    func write(_ frame: Image.Frame, delay: Int) throws(EideticError) {
        let pixels = try frame.pixels.unpremultiplied().packed()
        let size = pixels.size
        var colours = [UInt8](repeating: 0, count: 768)
        var indices = [UInt8](repeating: 0, count: size.pixelCount)
        let colourCount = pixels.withUnsafeBytes {
            eidetic_pixels_quantize(
                $0.bytePointer,
                size.pixelCount,
                pixels.alpha == .opaque ? 256 : 255,
                &colours,
                &indices
            )
        }
        guard colourCount >= 0, let map = GifMakeMapObject(256, nil) else {
            throw EideticError(.outOfMemory, message: "GIF: cannot allocate the colour table for \(size) pixels")
        }
        defer { GifFreeMapObject(map) }
        for index in 0..<256 {
            let start = 3 * index
            map.pointee.Colors[index] = GifColorType(
                Red: colours[start],
                Green: colours[start + 1],
                Blue: colours[start + 2]
            )
        }
        try writeGraphicControl(
            delay: delay,
            transparentIndex: pixels.alpha == .opaque ? nil : UInt8(colourCount)
        )
        try check(EGifPutImageDesc(file, 0, 0, Int32(size.width), Int32(size.height), false, map))
        for y in 0..<size.height {
            let row = y * size.width
            let status = indices.withUnsafeMutableBufferPointer {
                EGifPutLine(file, $0.baseAddress.map { $0 + row }, Int32(size.width))
            }
            try check(status)
        }
    }

    func finish() throws(EideticError) -> [UInt8] {
        defer { file = nil }
        try check(EGifCloseFile(file, nil))
        return bytes
    }

    private func writeGraphicControl(delay: Int, transparentIndex: UInt8?) throws(EideticError) {
        let hundredths = min(65_535, delay)
        let disposal: UInt8 = transparentIndex == nil ? 1 : 2
        let control = [
            disposal << 2 | (transparentIndex == nil ? 0 : 1), UInt8(hundredths & 255), UInt8(hundredths >> 8),
            transparentIndex ?? 0,
        ]
        try check(EGifPutExtension(file, GRAPHICS_EXT_FUNC_CODE, Int32(control.count), control))
    }

    private func check(_ status: Int32) throws(EideticError) {
        guard status != GIF_OK else { return }
        throw EideticError(.encodingFailed, message: "GIF: giflib could not write")
    }
}
