import CDeflate

/// A decompressor for small zlib streams in metadata.
enum ZlibStream {
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
