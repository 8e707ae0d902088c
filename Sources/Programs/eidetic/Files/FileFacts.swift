import EideticCore

/// The end of a file, as its structure shows it without a decode.
struct FileFacts {
    /// The reason why the file ends too early; `nil` if it seems complete.
    private(set) var truncation: String?

    private let reader: ByteReader

    /// Looks at the structure of a file.
    ///
    /// - SeeAlso: ITU-T T.81, annex B; W3C PNG, section 5; RFC 9649; ISO/IEC 14496-12, section 4.2.
    init(of bytes: [UInt8], format: ImageFormat) {
        reader = ByteReader(bytes: bytes[...], isLittleEndian: [.webp, .bmp, .ico].contains(format))
        switch format {
        case .jpeg: readJPEG()
        case .png: readPNG()
        case .gif: readGIF()
        case .webp: expect((reader.number(at: 4, count: 4) ?? 0) + 8)
        case .bmp: expect(reader.number(at: 2, count: 4) ?? 0)
        case .ico: readICO()
        case .tiff: expect(TIFFFacts(of: bytes)?.endOfPixels ?? 0)
        case .avif, .heic: readBoxes()
        case .jpegxl where reader.number(at: 0, count: 2) == 0: readBoxes()
        default: break
        }
    }

    private var count: Int { reader.bytes.count }

    private mutating func expect(_ size: Int) {
        if size > count { truncation = "the file ends after \(count) of \(size) bytes" }
    }

    /// Reads the segments up to the first scan, behind which the end must follow.
    private mutating func readJPEG() {
        truncation = "the file ends after \(count) bytes, without the end of the image"
        // Within a scan, FF is followed by 0, FF or the number of a restart.
        let scan = reader.bytes.dropFirst(reader.jpegMarkers.last?.range.upperBound ?? 2)
        let end = scan.indices.dropLast().last { scan[$0] == 0xff && scan[$0 + 1] == 0xd9 }
        if end != nil { truncation = nil }
    }

    private mutating func readICO() {
        let entries = (0..<(reader.number(at: 4, count: 2) ?? 0)).map { 6 + 16 * $0 }
        expect(
            entries.reduce(0) { end, entry in
                max(end, (reader.number(at: entry + 8, count: 4) ?? 0) + (reader.number(at: entry + 12, count: 4) ?? 0))
            }
        )
    }

    private mutating func readPNG() {
        guard reader.pngChunks.first(where: { $0.name == "IEND" })?.isComplete != true else { return }
        truncation = "the file ends after \(count) bytes, without the end of the image"
    }

    private mutating func readGIF() {
        var offset = 13 + tableLength(of: reader.number(at: 10, count: 1) ?? 0)
        for _ in 0..<ByteReader.maximumStepCount {
            guard let introducer = reader.number(at: offset, count: 1) else {
                truncation = "the file ends after \(count) bytes, without the trailer"
                return
            }
            switch introducer {
            case 0x21: offset = endOfBlocks(from: offset + 2)
            case 0x2c:
                let table = tableLength(of: reader.number(at: offset + 9, count: 1) ?? 0)
                offset = endOfBlocks(from: offset + 11 + table)
            // The trailer, or what decoders take for the end.
            default: return
            }
        }
    }

    /// Returns the length of the colour table that the packed fields of a GIF announce.
    private func tableLength(of fields: Int) -> Int { fields & 0x80 == 0 ? 0 : 3 << ((fields & 7) + 1) }

    /// Returns the offset behind a row of blocks, each with its length before it, which an empty one ends.
    private func endOfBlocks(from start: Int) -> Int {
        var offset = start
        while let length = reader.number(at: offset, count: 1) {
            offset += length + 1
            if length == 0 { break }
        }
        return offset
    }

    /// Adds the sizes of the outermost boxes.
    private mutating func readBoxes() {
        var offset = 0
        var names: Set<String> = []
        for _ in 0..<ByteReader.maximumStepCount {
            guard let size = reader.number(at: offset, count: 4) else { break }
            // A box of size 0 reaches to the end of the file, and 1 stands for a size of 64 bits.
            if size == 0 { return }
            // What devices append to a file is no box.
            guard isName(at: offset + 4) else { break }
            let large =
                (reader.number(at: offset + 8, count: 4) ?? 0) << 32 | (reader.number(at: offset + 12, count: 4) ?? 0)
            let length = size == 1 ? large : size
            guard length >= 8, length <= Int.max - offset else { return }
            let name = reader.text(at: offset + 4, count: 4) ?? ""
            if offset + length > count, names.isSuperset(of: ["meta", "mdat"]), !Self.boxes.contains(name) { break }
            names.insert(name)
            offset += length
        }
        expect(offset)
    }

    /// The boxes of the pixels, which may be cut; what reaches beyond the end behind complete ones is no box.
    private static let boxes: Set = ["meta", "mdat", "moov", "moof", "idat"]

    /// Returns `true` if there are four printable characters of ASCII, or the file ends before; otherwise, `false`.
    private func isName(at offset: Int) -> Bool {
        (offset..<offset + 4).allSatisfy { (0x20...0x7e).contains(reader.number(at: $0, count: 1) ?? 0x20) }
    }
}
