import CJPEG
import EideticCore

/// The lossless process of JPEG, as medical devices write it: grey or RGB, 2 to 16 bits.
///
/// Decoded by code of our own, since libjpeg-turbo knows it from version 3 on only.
enum LosslessJPEG {
    /// Rows between two questions whether to go on.
    private static let rowsPerCheckpoint = 32

    static func decode(_ bytes: UnsafeRawBufferPointer, for task: DecodeTask) throws(EideticError) -> DecodedPixels {
        let decoder = try Decoder(bytes)
        guard decoder.size == task.header.size else {
            throw EideticError(.corrupt, message: "JPEG: two sizes, \(task.header.size) and \(decoder.size)")
        }
        var damage: EideticError?
        // What is missing of a partial picture is transparent.
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

        /// Decodes the next rows; gives what was wrong with them.
        func readRows(into rows: UnsafeMutablePointer<UInt8>, stride: Int, count: Int) -> EideticError? {
            let status = eidetic_lossless_read_rows(handle, rows, stride, UInt32(count))
            return status == EIDETIC_JPEG_OK ? nil : Self.error(status: status, byteCount: byteCount)
        }

        private static func error(status: eidetic_jpeg_status, byteCount: Int) -> EideticError {
            switch status {
            case EIDETIC_JPEG_TRUNCATED:
                EideticError(.truncated, message: "lossless JPEG: ends after \(byteCount) bytes")
            case EIDETIC_JPEG_OUT_OF_MEMORY:
                EideticError(.outOfMemory, message: "lossless JPEG: no memory for the decoder")
            case EIDETIC_JPEG_UNSUPPORTED:
                EideticError(.unsupportedFormat, message: "lossless JPEG: neither grey nor RGB in full resolution")
            default: EideticError(.corrupt, message: "lossless JPEG: broken codes")
            }
        }
    }
}
