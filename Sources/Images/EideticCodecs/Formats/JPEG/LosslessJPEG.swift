import CJPEG
import EideticCore

/// A decoder for lossless JPEG, as medical devices write it: grey or RGB, 2 to 16 bits per sample.
///
/// libjpeg-turbo supports the lossless process only from version 3 on.
enum LosslessJPEG {
    /// The number of rows between two checkpoints.
    private static let rowsPerCheckpoint = 32

    static func decode(_ bytes: UnsafeRawBufferPointer, for task: DecodeTask) throws(EideticError) -> DecodedPixels {
        let decoder = try Decoder(bytes)
        guard decoder.size == task.header.size else {
            throw EideticError(
                .corrupt,
                message: "JPEG: the file declares two sizes, \(task.header.size) and \(decoder.size)"
            )
        }
        var damage: EideticError?
        // Missing pixels of a partial image are transparent.
        let alpha: PixelBuffer.Alpha = task.acceptsPartial ? .straight : .opaque
        let pixels = try PixelBuffer(size: decoder.size, alpha: alpha) { memory, stride throws(EideticError) in
            if task.acceptsPartial { memory.initializeMemory(as: UInt8.self, repeating: 0) }
            guard let base = memory.bytePointer else { return }
            for row in Swift.stride(from: 0, to: decoder.size.height, by: rowsPerCheckpoint) where damage == nil {
                try task.checkpoint()
                damage = decoder.readRows(
                    into: base + row * stride,
                    stride: stride,
                    count: min(rowsPerCheckpoint, decoder.size.height - row)
                )
                if let damage, !task.acceptsPartial { throw damage }
            }
        }
        return DecodedPixels(pixels, isPartial: damage != nil)
    }

    private struct Decoder: ~Copyable {
        private let handle: OpaquePointer
        private let byteCount: Int

        init(_ bytes: UnsafeRawBufferPointer) throws(EideticError) {
            var handle: OpaquePointer?
            let status = eidetic_lossless_create(bytes.bytePointer, bytes.count, &handle)
            guard let handle else { throw Self.error(status: status, byteCount: bytes.count) }
            self.handle = handle
            byteCount = bytes.count
        }

        deinit { eidetic_lossless_destroy(handle) }

        var size: PixelSize {
            PixelSize(width: Int(eidetic_lossless_width(handle)), height: Int(eidetic_lossless_height(handle)))
        }

        /// Decodes the next rows; returns the error if they are corrupt or missing.
        func readRows(into rows: UnsafeMutablePointer<UInt8>, stride: Int, count: Int) -> EideticError? {
            let status = eidetic_lossless_read_rows(handle, rows, stride, UInt32(count))
            return status == EIDETIC_JPEG_OK ? nil : Self.error(status: status, byteCount: byteCount)
        }

        private static func error(status: eidetic_jpeg_status, byteCount: Int) -> EideticError {
            switch status {
            case EIDETIC_JPEG_TRUNCATED:
                EideticError(.truncated, message: "lossless JPEG: the file ends after \(byteCount) bytes")
            case EIDETIC_JPEG_OUT_OF_MEMORY:
                EideticError(.outOfMemory, message: "lossless JPEG: cannot allocate the decoder")
            case EIDETIC_JPEG_UNSUPPORTED:
                EideticError(
                    .unsupportedFormat,
                    message: "lossless JPEG: only grey and RGB without subsampling are supported"
                )
            default: EideticError(.corrupt, message: "lossless JPEG: invalid Huffman codes")
            }
        }
    }
}
