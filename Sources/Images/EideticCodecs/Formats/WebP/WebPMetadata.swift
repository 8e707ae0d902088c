import CWebP
import EideticCore

/// The metadata in the chunks of a WebP, by libwebpmux.
///
/// - SeeAlso: RFC 9649, section 2.7.1.
enum WebPMetadata {
    static func read(_ file: UnsafeRawBufferPointer) -> ImageMetadata {
        var data = WebPData(bytes: file.bytePointer, size: file.count)
        guard let mux = WebPMuxCreate(&data, 0) else { return ImageMetadata() }
        defer { WebPMuxDelete(mux) }
        func chunk(_ name: String) -> [UInt8]? {
            var content = WebPData()
            guard WebPMuxGetChunk(mux, name, &content) == WEBP_MUX_OK else { return nil }
            return Array(UnsafeBufferPointer(start: content.bytes, count: content.size))
        }
        // Some writers repeat the signature of JPEG.
        let exif = chunk("EXIF").map { $0.starts(with: Array("Exif\0\0".utf8)) ? Array($0.dropFirst(6)) : $0 }
        return ImageMetadata(exif: exif, xmp: chunk("XMP "), iccProfile: chunk("ICCP"))
    }

    /// Returns a file that the encoder has written, with metadata.
    ///
    /// - Throws: `encodingFailed` or `outOfMemory`.
    static func bytes(_ file: [UInt8], with metadata: ImageMetadata) throws(EideticError) -> [UInt8] {
        let chunks = [("ICCP", metadata.iccProfile), ("EXIF", metadata.uprightExif), ("XMP ", metadata.xmp)]
        return try file.span.withUnsafeBytes { bytes throws(EideticError) in
            var source = WebPData(bytes: bytes.bytePointer, size: bytes.count)
            guard let mux = WebPMuxCreate(&source, 0) else { throw memoryError }
            defer { WebPMuxDelete(mux) }
            for (name, content) in chunks {
                guard let content else { continue }
                try set(name, content: content, in: mux)
            }
            var target = WebPData()
            WebPDataInit(&target)
            defer { WebPDataClear(&target) }
            try check(WebPMuxAssemble(mux, &target))
            return Array(UnsafeBufferPointer(start: target.bytes, count: target.size))
        }
    }

    private static func set(_ name: String, content: [UInt8], in mux: OpaquePointer) throws(EideticError) {
        try content.span.withUnsafeBytes { bytes throws(EideticError) in
            var data = WebPData(bytes: bytes.bytePointer, size: bytes.count)
            try check(WebPMuxSetChunk(mux, name, &data, 1))
        }
    }

    private static var memoryError: EideticError {
        EideticError(.outOfMemory, message: "WebP: not enough memory for the metadata")
    }

    private static func check(_ result: WebPMuxError) throws(EideticError) {
        guard result != WEBP_MUX_OK else { return }
        if result == WEBP_MUX_MEMORY_ERROR { throw memoryError }
        throw EideticError(.encodingFailed, message: "WebP: libwebpmux failed with code \(result.rawValue)")
    }
}
