#if SVG
import CDeflate
import EideticCore

/// A decompressor of documents in gzip's format (`.svgz`).
///
/// librsvg could decompress them too, but without a limit.
///
/// - SeeAlso: RFC 1952.
enum GzipFile {
    /// The maximum size of a document after decompression: 64 MiB.
    static let maximumSize = 64 << 20

    /// Returns `true` if the bytes start with gzip's signature; otherwise, `false`.
    static func isCompressed(_ bytes: some Collection<UInt8>) -> Bool { bytes.starts(with: [0x1f, 0x8b, 0x08]) }

    /// Returns the content of the file's first member.
    ///
    /// - Throws: `limitExceeded` if it is larger than ``maximumSize``; `truncated` or `corrupt`; `notAnImage` if it is
    ///   no SVG document.
    static func document(in file: UnsafeRawBufferPointer) throws(EideticError) -> [UInt8] {
        // The last four bytes are the size modulo 2³² if the file has one member.
        let stated = file.littleEndian32(at: file.count - 4) ?? 0
        var capacity = min(max(stated, 4_096), Self.maximumSize)
        while true {
            let (content, result) = try decompress(file, capacity: capacity)
            switch result {
            case LIBDEFLATE_SUCCESS: return try check(content)
            case LIBDEFLATE_INSUFFICIENT_SPACE where capacity < maximumSize: capacity = min(4 * capacity, maximumSize)
            case LIBDEFLATE_INSUFFICIENT_SPACE:
                throw EideticError(.limitExceeded, message: "svg: the document has more than \(maximumSize) bytes")
            default: throw EideticError(.corrupt, message: "svg: the compressed document is corrupt or truncated")
            }
        }
    }

    private static func check(_ content: [UInt8]) throws(EideticError) -> [UInt8] {
        guard case .format(.svg) = ImageFormat.detect(in: content, isComplete: true), !isCompressed(content) else {
            throw EideticError(.notAnImage, message: "the compressed file is not an SVG document")
        }
        return content
    }

    private static func decompress(
        _ file: UnsafeRawBufferPointer,
        capacity: Int
    ) throws(EideticError) -> ([UInt8], libdeflate_result) {
        guard let inflater = libdeflate_alloc_decompressor() else {
            throw EideticError(.outOfMemory, message: "svg: not enough memory for a decompressor")
        }
        defer { libdeflate_free_decompressor(inflater) }
        var result = LIBDEFLATE_BAD_DATA
        let content = [UInt8](unsafeUninitializedCapacity: capacity) { target, count in
            var read = 0
            var written = 0
            let (base, length) = (file.baseAddress, file.count)
            result = libdeflate_gzip_decompress_ex(
                inflater,
                base,
                length,
                target.baseAddress,
                capacity,
                &read,
                &written
            )
            count = result == LIBDEFLATE_SUCCESS ? written : 0
        }
        return (content, result)
    }
}
#endif
