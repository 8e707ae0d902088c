import CPixels
import CWebP
import EideticCore

/// One picture of a WebP file, to be decoded by libwebp.
struct WebPPicture {
    private let bytes: UnsafeRawBufferPointer
    private let isLossless: Bool
    private let deniesAlpha: Bool

    /// `deniesAlpha` tells that the picture's alpha is not to be used; the library would give it all the same.
    init(_ bytes: UnsafeRawBufferPointer, isLossless: Bool, deniesAlpha: Bool = false) {
        self.bytes = bytes
        self.isLossless = isLossless
        self.deniesAlpha = deniesAlpha
    }

    /// Compressed bytes between two questions whether to go on: a few milliseconds of work.
    ///
    /// Without loss the library decodes up to eight rows anew each time.
    private var batch: Int { isLossless ? 512 << 10 : 64 << 10 }

    /// Decodes to R, G, B, A in `memory`, at `size`; gives what was wrong where the task accepts that.
    func decode(
        into memory: UnsafeMutableRawBufferPointer,
        _ stride: Int,
        _ size: PixelSize,
        stored: PixelSize,
        _ task: DecodeTask
    ) throws(EideticError) -> EideticError? {
        // What is missing of a partial picture is transparent.
        if task.acceptsPartial { memory.initializeMemory(as: UInt8.self, repeating: 0) }
        var config = WebPDecoderConfig()
        guard WebPInitDecoderConfig(&config) != 0 else {
            throw EideticError(.unsupportedFormat, "WebP: the library is of another version")
        }
        config.output.colorspace = MODE_RGBA
        config.output.is_external_memory = 1
        config.output.u.RGBA.rgba = memory.assumingMemoryBound(to: UInt8.self).baseAddress
        config.output.u.RGBA.stride = Int32(stride)
        config.output.u.RGBA.size = memory.count
        if size != stored {
            config.options.use_scaling = 1
            config.options.scaled_width = Int32(size.width)
            config.options.scaled_height = Int32(size.height)
        }
        let status = try feed(&config, task)
        guard let damage = error(status) else { return nil }
        guard task.acceptsPartial, [.truncated, .corrupt].contains(damage.code) else { throw damage }
        return damage
    }

    /// Gives the library more and more of the bytes.
    private func feed(_ config: inout WebPDecoderConfig, _ task: DecodeTask) throws(EideticError) -> VP8StatusCode {
        // The library keeps pointers into the configuration.
        try withUnsafeMutablePointer(to: &config) { config throws(EideticError) in
            guard let decoder = WebPIDecode(nil, 0, config) else {
                throw EideticError(.outOfMemory, "WebP: no memory for the decoder")
            }
            defer { WebPIDelete(decoder) }
            let base = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
            var status = VP8_STATUS_SUSPENDED
            var fed = 0
            var opaqueRows = 0
            while status == VP8_STATUS_SUSPENDED, fed < bytes.count {
                try task.checkpoint()
                fed = min(fed + batch, bytes.count)
                status = WebPIUpdate(decoder, base, fed)
                if deniesAlpha { Self.makeOpaque(config.pointee.output, Self.rows(decoder, status), &opaqueRows) }
            }
            return status
        }
    }

    /// The rows that the library is done with; until the end, the last one may be written once more.
    private static func rows(_ decoder: OpaquePointer, _ status: VP8StatusCode) -> Int {
        var last: Int32 = 0
        guard WebPIDecGetRGB(decoder, &last, nil, nil, nil) != nil else { return 0 }
        return Int(status == VP8_STATUS_OK ? last : max(0, last - 1))
    }

    /// Takes alpha from the rows that are new, while they are still in the processor's cache.
    private static func makeOpaque(_ output: WebPDecBuffer, _ rows: Int, _ done: inout Int) {
        guard rows > done, let pixels = output.u.RGBA.rgba else { return }
        let stride = Int(output.u.RGBA.stride)
        eidetic_pixels_make_opaque(pixels + done * stride, (rows - done) * stride / 4)
        done = rows
    }

    private func error(_ status: VP8StatusCode) -> EideticError? {
        switch status {
        case VP8_STATUS_OK: nil
        case VP8_STATUS_SUSPENDED, VP8_STATUS_NOT_ENOUGH_DATA:
            EideticError(.truncated, "WebP: ends after \(bytes.count) bytes, before the picture is complete")
        case VP8_STATUS_OUT_OF_MEMORY: EideticError(.outOfMemory, "WebP: no memory for the picture")
        case VP8_STATUS_UNSUPPORTED_FEATURE:
            EideticError(.unsupportedFormat, "WebP: uses a feature that libwebp does not know")
        default: EideticError(.corrupt, "WebP: the compressed pixels are broken")
        }
    }
}
