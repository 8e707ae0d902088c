import CPixels
import CWebP
import EideticCore

/// A decoder for one still image or frame of a WebP file, by libwebp.
struct WebPDecoder {
    private let bytes: UnsafeRawBufferPointer
    private let isLossless: Bool
    private let ignoresAlpha: Bool

    /// Creates a decoder; `ignoresAlpha` makes opaque what libwebp decodes with alpha although the file declares none.
    init(_ bytes: UnsafeRawBufferPointer, isLossless: Bool, ignoresAlpha: Bool = false) {
        self.bytes = bytes
        self.isLossless = isLossless
        self.ignoresAlpha = ignoresAlpha
    }

    /// The number of compressed bytes between two checkpoints, which take a few milliseconds.
    ///
    /// libwebp decodes up to eight rows of a lossless image again after each pause.
    private var bytesPerCheckpoint: Int { isLossless ? 512 << 10 : 64 << 10 }

    /// Decodes to R, G, B, A in `memory`, at `size`.
    ///
    /// - Returns: The error of missing or corrupt pixels if the task accepts partial images; `nil` if the image is
    ///   intact.
    func decode(
        into memory: UnsafeMutableRawBufferPointer,
        stride: Int,
        size: PixelSize,
        storedSize: PixelSize,
        for task: DecodeTask
    ) throws(EideticError) -> EideticError? {
        // Missing pixels of a partial image are transparent.
        if task.acceptsPartial { memory.initializeMemory(as: UInt8.self, repeating: 0) }
        var config = WebPDecoderConfig()
        guard WebPInitDecoderConfig(&config) != 0 else {
            throw EideticError(.unsupportedFormat, message: "WebP: libwebp has an incompatible version")
        }
        config.output.colorspace = MODE_RGBA
        config.output.is_external_memory = 1
        config.output.u.RGBA.rgba = memory.assumingMemoryBound(to: UInt8.self).baseAddress
        config.output.u.RGBA.stride = Int32(stride)
        config.output.u.RGBA.size = memory.count
        if size != storedSize {
            config.options.use_scaling = 1
            config.options.scaled_width = Int32(size.width)
            config.options.scaled_height = Int32(size.height)
        }
        let status = try decode(config: &config, for: task)
        guard let damage = error(status: status, size: storedSize) else { return nil }
        guard task.acceptsPartial, [.truncated, .corrupt].contains(damage.code) else { throw damage }
        return damage
    }

    /// Decodes the bytes, all at once if that takes no longer than one portion.
    private func decode(config: inout WebPDecoderConfig, for task: DecodeTask) throws(EideticError) -> VP8StatusCode {
        guard bytes.count <= bytesPerCheckpoint, !ignoresAlpha, !task.acceptsPartial else {
            return try decodeIncrementally(config: &config, for: task)
        }
        try task.checkpoint()
        let base = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        return WebPDecode(base, bytes.count, &config)
    }

    /// Decodes the bytes in portions, with a checkpoint before each.
    private func decodeIncrementally(config: inout WebPDecoderConfig, for task: DecodeTask) throws(EideticError)
        -> VP8StatusCode
    {
        // libwebp keeps pointers into the configuration.
        try withUnsafeMutablePointer(to: &config) { config throws(EideticError) in
            guard let decoder = WebPIDecode(nil, 0, config) else {
                throw EideticError(.outOfMemory, message: "WebP: cannot allocate the decoder")
            }
            defer { WebPIDelete(decoder) }
            let base = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
            var status = VP8_STATUS_SUSPENDED
            var consumedByteCount = 0
            var opaqueRows = 0
            while status == VP8_STATUS_SUSPENDED, consumedByteCount < bytes.count {
                try task.checkpoint()
                consumedByteCount = min(consumedByteCount + bytesPerCheckpoint, bytes.count)
                status = WebPIUpdate(decoder, base, consumedByteCount)
                if ignoresAlpha {
                    Self.makeOpaque(
                        config.pointee.output,
                        throughRow: Self.finishedRows(of: decoder, status: status),
                        opaqueRows: &opaqueRows
                    )
                }
            }
            return status
        }
    }

    /// Returns the number of final rows; until the end, libwebp may write the last one again.
    static func finishedRows(of decoder: OpaquePointer, status: VP8StatusCode) -> Int {
        var last: Int32 = 0
        guard WebPIDecGetRGB(decoder, &last, nil, nil, nil) != nil else { return 0 }
        return Int(status == VP8_STATUS_OK ? last : max(0, last - 1))
    }

    /// Makes new rows opaque while they are still in the processor's cache.
    private static func makeOpaque(_ output: WebPDecBuffer, throughRow rows: Int, opaqueRows done: inout Int) {
        guard rows > done, let pixels = output.u.RGBA.rgba else { return }
        let stride = Int(output.u.RGBA.stride)
        eidetic_pixels_make_opaque(pixels + done * stride, (rows - done) * stride / 4)
        done = rows
    }

    private func error(status: VP8StatusCode, size: PixelSize) -> EideticError? {
        switch status {
        case VP8_STATUS_OK: nil
        case VP8_STATUS_SUSPENDED, VP8_STATUS_NOT_ENOUGH_DATA:
            EideticError(
                .truncated,
                message: "WebP: the file ends after \(bytes.count) bytes, before the image is complete"
            )
        case VP8_STATUS_OUT_OF_MEMORY where lacksMemory(size: size):
            EideticError(.outOfMemory, message: "WebP: cannot allocate the image")
        case VP8_STATUS_UNSUPPORTED_FEATURE:
            EideticError(.unsupportedFormat, message: "WebP: libwebp does not support a feature of the file")
        default: EideticError(.corrupt, message: "WebP: the compressed pixels are corrupt")
        }
    }

    /// Returns whether memory is lacking indeed: so libwebp 1.5 calls an alpha that it cannot decode, too.
    private func lacksMemory(size: PixelSize) -> Bool {
        guard !isLossless else { return true }
        do throws(EideticError) {
            _ = try ScratchBuffer(byteCount: 8 * size.pixelCount)
            return false
        } catch {
            return true
        }
    }
}
