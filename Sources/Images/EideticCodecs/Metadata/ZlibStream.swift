import CDeflate
import EideticCore

/// Small zlib streams in metadata.
enum ZlibStream {
    /// Returns the zlib stream of a content.
    ///
    /// - Throws: `outOfMemory`.
    static func deflate(_ content: [UInt8]) throws(EideticError) -> [UInt8] {
        guard let deflater = libdeflate_alloc_compressor(6) else {
            throw EideticError(.outOfMemory, message: "not enough memory to compress \(content.count) bytes")
        }
        defer { libdeflate_free_compressor(deflater) }
        let bound = libdeflate_zlib_compress_bound(deflater, content.count)
        return content.withUnsafeBytes { source in
            [UInt8](unsafeUninitializedCapacity: bound) { target, count in
                count = libdeflate_zlib_compress(deflater, source.baseAddress, source.count, target.baseAddress, bound)
            }
        }
    }

    /// Returns the content of a zlib stream; `nil` if it is corrupt or larger than `limit` bytes.
    static func inflate(_ stream: UnsafeRawBufferPointer, limit: Int) -> [UInt8]? {
        guard let inflater = libdeflate_alloc_decompressor() else { return nil }
        defer { libdeflate_free_decompressor(inflater) }
        var capacity = min(limit, max(4_096, 4 * stream.count))
        while true {
            var written = 0
            var result = LIBDEFLATE_BAD_DATA
            let content = [UInt8](unsafeUninitializedCapacity: capacity) { target, count in
                let base = target.baseAddress
                result = libdeflate_zlib_decompress(
                    inflater,
                    stream.baseAddress,
                    stream.count,
                    base,
                    capacity,
                    &written
                )
                count = result == LIBDEFLATE_SUCCESS ? written : 0
            }
            if result == LIBDEFLATE_SUCCESS { return content }
            guard result == LIBDEFLATE_INSUFFICIENT_SPACE, capacity < limit else { return nil }
            capacity = min(limit, 4 * capacity)
        }
    }
}
