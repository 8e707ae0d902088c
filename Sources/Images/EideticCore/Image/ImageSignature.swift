/// The first bytes of a file, compared with the signatures of all formats.
struct ImageSignature {
    let bytes: UnsafeRawBufferPointer
    var format: ImageFormat?
    var needsMoreBytes = false

    init(bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        for (prefix, format) in Self.prefixes where matches(prefix) {
            self.format = format
            return
        }
        if matches(Array("RIFF".utf8)), matches(Array("WEBP".utf8), at: 8) { format = format ?? .webp }
        if matches(Array("ftyp".utf8), at: 4) { format = format ?? isoMediaFormat() }
        if format == nil, !needsMoreBytes {
            switch XMLProlog.rootElement(of: bytes) {
            case .svg: format = .svg
            case .needsMoreBytes: needsMoreBytes = true
            case .other: break
            }
        }
    }

    static let prefixes: [([UInt8], ImageFormat)] = [
        ([0xff, 0xd8, 0xff], .jpeg),
        ([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], .png),
        (Array("GIF87a".utf8), .gif),
        (Array("GIF89a".utf8), .gif),
        ([0x49, 0x49, 0x2a, 0x00], .tiff),
        ([0x4d, 0x4d, 0x00, 0x2a], .tiff),
        ([0x49, 0x49, 0x2b, 0x00], .tiff),
        ([0x4d, 0x4d, 0x00, 0x2b], .tiff),
        (Array("BM".utf8), .bmp),
        (Array("BA".utf8), .bmp),
        ([0x00, 0x00, 0x01, 0x00], .ico),
        ([0x00, 0x00, 0x02, 0x00], .ico),
        ([0xff, 0x0a], .jpegxl),
        // A compressed document; no other format is compressed as a whole.
        ([0x1f, 0x8b, 0x08], .svg),
        ([0x00, 0x00, 0x00, 0x0c, 0x4a, 0x58, 0x4c, 0x20, 0x0d, 0x0a, 0x87, 0x0a], .jpegxl),
    ]

    /// Returns `true` if the bytes at `offset` equal `expected`; sets `needsMoreBytes` if there are too few to tell.
    mutating func matches(_ expected: [UInt8], at offset: Int = 0) -> Bool {
        for (index, byte) in expected.enumerated() {
            guard offset + index < bytes.count else {
                needsMoreBytes = needsMoreBytes || offset == 0 || bytes.count < 12
                return false
            }
            if bytes[offset + index] != byte { return false }
        }
        return true
    }

    /// Reads the brands of an ISO base media file: `ftyp`, a major brand, a version, compatible brands.
    mutating func isoMediaFormat() -> ImageFormat? {
        guard bytes.count >= 12 else { needsMoreBytes = true; return nil }
        let length = bytes[0..<4].reduce(0) { $0 << 8 | Int($1) }
        let end = min(max(length, 16), 512)
        let offsets = [8] + stride(from: 16, to: max(16, end - 3), by: 4)
        var isHEVC = false
        for offset in offsets {
            guard offset + 4 <= bytes.count else { needsMoreBytes = true; return nil }
            switch String(decoding: bytes[offset..<offset + 4], as: UTF8.self) {
            case "avif", "avis": return .avif
            case "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs": return .heic
            // Profiles of MIAF with HEVC, which files of phones may state instead.
            case "MiHB", "MiHE", "MiHA": isHEVC = true
            default: continue
            }
        }
        return isHEVC ? .heic : nil
    }
}
