/// The parts of a JPEG or PNG beside its pixels, EXIF, XMP and profile that a file of the same format can keep: the
/// resolution, texts, and IPTC.
///
/// Left out is what can become stale: thumbnails, previews, further images, the profiles of ImageMagick in texts, and a
/// resolution of oblong pixels, which would have to turn with them.
///
/// - SeeAlso: JFIF 1.02; IPTC-IIM 4.2; PNG (third edition), sections 11.3.3 and 11.3.4.3.
package struct FormatParts: Sendable, Hashable {
    /// The segments of a JPEG, or the chunks of a PNG, one behind the other.
    package let bytes: [UInt8]

    /// The words for the parts, such as "comment".
    package var names: Set<String> {
        bytes.withUnsafeBytes { bytes in
            let names = isJPEG ? Self.segments(in: bytes).map { Self.name(of: $0) } : Self.chunks(in: bytes).map(\.name)
            return Set(names.compactMap { $0 })
        }
    }

    /// The most parts that are kept.
    private static let maximumCount = 1_024

    private var isJPEG: Bool { bytes.first == 0xff }

    /// Creates the parts from their bytes; `nil` if there are none.
    package init?(bytes: [UInt8]) {
        guard !bytes.isEmpty else { return nil }
        self.bytes = bytes
    }

    // MARK: JPEG

    /// Reads the segments of a JPEG.
    static func ofJPEG(_ file: UnsafeRawBufferPointer) -> FormatParts? {
        let bytes = segments(in: file, from: 2).flatMap { segment -> [UInt8] in
            segment[1] == 0xed || name(of: segment) == nil ? [] : Array(segment)
        }
        return FormatParts(bytes: bytes + (PhotoshopResources(ofJPEG: file).iptc.map { segment(ofIPTC: $0) } ?? []))
    }

    /// Returns the whole segments with their markers.
    private static func segments(in bytes: UnsafeRawBufferPointer, from start: Int = 0) -> [UnsafeRawBufferPointer] {
        JPEGMarkers(bytes, from: start).prefix(maximumCount).compactMap { marker in
            let offset = marker.range.lowerBound
            guard marker.content != nil, bytes.bigEndian16(at: offset + 2) == marker.range.count - 2 else { return nil }
            return bytes.slice(at: offset, count: marker.range.count)
        }
    }

    /// Returns the word for what is kept of a segment; `nil` for one that is left out.
    private static func name(of segment: UnsafeRawBufferPointer) -> String? {
        switch segment[1] {
        case 0xe0 where segment.contains("JFIF\0", at: 4) && hasSquarePixels(segment): "resolution"
        case 0xed: "IPTC"
        case 0xfe: "comment"
        default: nil
        }
    }

    private static func hasSquarePixels(_ segment: UnsafeRawBufferPointer) -> Bool {
        guard let unit = segment.uint8(at: 11), let x = segment.bigEndian16(at: 12) else { return false }
        return unit > 0 && x > 0 && x == segment.bigEndian16(at: 14)
    }

    /// Returns the segment of Photoshop that holds IPTC, without its preview; empty if it is too long for one.
    private static func segment(ofIPTC content: [UInt8]) -> [UInt8] {
        let kept = content.withUnsafeBytes { withoutPreview($0) }
        var result: [UInt8] = [0xff, 0xed, 0, 0]
        for text in [PhotoshopResources.header, "8BIM"] { result += text.withUTF8Buffer { Array($0) } }
        result += [0x04, 0x04, 0, 0] + bigEndian(kept.count, byteCount: 4) + kept
        guard result.count <= 65_537 else { return [] }
        result.replaceSubrange(2..<4, with: bigEndian(result.count - 2, byteCount: 2))
        return result
    }

    private static func bigEndian(_ value: Int, byteCount: Int) -> [UInt8] {
        (0..<byteCount).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// Returns IPTC without the preview of the image, in data sets 2:200 to 2:202.
    private static func withoutPreview(_ content: UnsafeRawBufferPointer) -> [UInt8] {
        var kept: [UInt8] = []
        var offset = 0
        // A length beyond 32,767 has another form, which only previews need.
        while content.uint8(at: offset) == 0x1c, let record = content.uint8(at: offset + 1),
            let number = content.uint8(at: offset + 2), let length = content.bigEndian16(at: offset + 3),
            let set = content.slice(at: offset, count: 5 + length)
        {
            if record != 2 || !(200...202).contains(number) { kept += set }
            offset += 5 + length
        }
        return offset == 0 ? Array(content) : kept
    }

    /// Returns a JPEG, which begins with a JFIF segment, with these parts from an offset on.
    func added(toJPEG file: [UInt8], at start: Int) -> [UInt8] {
        guard isJPEG else { return file }
        var head = Array(file[..<start])
        let rest = bytes.withUnsafeBytes { bytes in
            Self.segments(in: bytes).flatMap { segment -> [UInt8] in
                guard segment[1] == 0xe0 else { return Array(segment) }
                // The unit and both densities.
                if head.count >= 18, head[3] == 0xe0, let density = segment.slice(at: 11, count: 5) {
                    head.replaceSubrange(13..<18, with: density)
                }
                return []
            }
        }
        return head + rest + file[start...]
    }

    // MARK: PNG

    /// Reads the chunks of a PNG.
    static func ofPNG(_ file: UnsafeRawBufferPointer) -> FormatParts? {
        FormatParts(bytes: chunks(in: UnsafeRawBufferPointer(rebasing: file.dropFirst(8))).flatMap(\.bytes))
    }

    private static func chunks(in bytes: UnsafeRawBufferPointer) -> [(name: String, bytes: [UInt8])] {
        var chunks: [(name: String, bytes: [UInt8])] = []
        for chunk in PNGChunks(bytes, from: 0) where chunk.isComplete && chunk.isAncillary {
            guard chunks.count < maximumCount else { break }
            let name: String
            switch chunk.name {
            case "tEXt", "zTXt", "iTXt": name = "texts"
            case "pHYs" where !chunks.contains { $0.name == "resolution" } && hasSquarePixels(chunk):
                name = "resolution"
            default: continue
            }
            let isOther = chunk.content.contains("XML:com.adobe.xmp\0") || chunk.content.contains("Raw profile type ")
            guard !isOther, chunk.hasValidChecksum,
                let whole = bytes.slice(at: chunk.offset, count: chunk.content.count + 12)
            else { continue }
            chunks.append((name, Array(whole)))
        }
        return chunks
    }

    private static func hasSquarePixels(_ chunk: PNGChunks.Chunk) -> Bool {
        chunk.content.count == 9 && chunk.content.bigEndian32(at: 0) == chunk.content.bigEndian32(at: 4)
    }

    /// The chunks for a PNG; empty if the parts are those of another format.
    var pngChunks: [UInt8] { isJPEG ? [] : bytes }
}
