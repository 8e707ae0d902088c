import CPNG
import EideticCore

/// The owner of one libpng decoder.
struct PNGDecoder: ~Copyable {
    private let handle: OpaquePointer
    private let byteCount: Int

    /// Creates a decoder.
    ///
    /// - Precondition: `bytes` outlives the decoder.
    init(_ bytes: UnsafeRawBufferPointer) throws(EideticError) {
        let base = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        guard let handle = eidetic_png_decoder_create(base, bytes.count) else {
            throw EideticError(.outOfMemory, message: "PNG: cannot allocate the decoder")
        }
        self.handle = handle
        byteCount = bytes.count
    }

    deinit { eidetic_png_decoder_destroy(handle) }

    /// Reads up to the pixels; returns the size and the number of interlacing passes.
    ///
    /// With `isDeep`, samples of 16 bits are kept.
    /// With `ignoresChunkChecksums` the CRC of chunks is ignored, but the Adler-32 of the pixels must match.
    /// With `acceptsPartial` rows are read as far as the bytes reach, which takes longer.
    func start(
        ignoresChunkChecksums: Bool,
        acceptsPartial: Bool,
        isDeep: Bool
    ) throws(EideticError) -> (size: PixelSize, passes: Int) {
        var width: UInt32 = 0
        var height: UInt32 = 0
        var passes: Int32 = 0
        let ignores: Int32 = ignoresChunkChecksums ? 1 : 0
        let partial: Int32 = acceptsPartial ? 1 : 0
        try check(eidetic_png_start(handle, ignores, partial, isDeep ? 1 : 0, &width, &height, &passes))
        return (PixelSize(width: Int(width), height: Int(height)), Int(passes))
    }

    /// Reads the next `count` rows of the current pass.
    func readRows(into rows: UnsafeMutableRawPointer, bytesPerRow: Int, count: Int) throws(EideticError) {
        let target = rows.assumingMemoryBound(to: UInt8.self)
        try check(eidetic_png_read_rows(handle, target, bytesPerRow, UInt32(count)))
    }

    /// Reads the chunks behind the pixels.
    func finish() throws(EideticError) { try check(eidetic_png_finish(handle)) }

    /// A Boolean value indicating whether the last error was a wrong checksum of a pixel chunk, whose pixels may still
    /// be intact.
    var hasBadChecksum: Bool { eidetic_png_last_status(handle) == EIDETIC_PNG_BAD_CHECKSUM }

    private func check(_ status: eidetic_png_status) throws(EideticError) {
        guard status != EIDETIC_PNG_OK else { return }
        let location = "before byte \(eidetic_png_offset(handle)) of \(byteCount)"
        let message = "PNG: \(String(cString: eidetic_png_message(handle))), \(location)"
        switch status {
        case EIDETIC_PNG_TRUNCATED: throw EideticError(.truncated, message: message)
        case EIDETIC_PNG_OUT_OF_MEMORY: throw EideticError(.outOfMemory, message: message)
        default: throw EideticError(.corrupt, message: message)
        }
    }
}
