import EideticCore

/// The samples and the end of a file, as its structure shows them without a decode.
struct FileFacts {
    /// The number of bits of a sample; `nil` if it is not known.
    private(set) var bits: Int?
    /// The kind of colours, such as "RGB"; `nil` if it is not known.
    private(set) var color: String?
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
        case .webp:
            bits = 8
            expect((reader.number(at: 4, count: 4) ?? 0) + 8)
        case .bmp: expect(reader.number(at: 2, count: 4) ?? 0)
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
        var offset = 2
        while let start = reader.number(at: offset, count: 1), let marker = reader.number(at: offset + 1, count: 1) {
            guard start == 0xff, marker != 0xff, marker != 0 else {
                offset += 1
                continue
            }
            if (0xc0...0xcf).contains(marker), ![0xc4, 0xc8, 0xcc].contains(marker) {
                bits = reader.number(at: offset + 4, count: 1)
                color = reader.number(at: offset + 9, count: 1).flatMap { [1: "grey", 3: "YCbCr", 4: "CMYK"][$0] }
            }
            if marker == 0xda { break }
            let isAlone = marker == 1 || (0xd0...0xd9).contains(marker)
            offset += 2 + (isAlone ? 0 : max(2, reader.number(at: offset + 2, count: 2) ?? 2))
        }
        // Within a scan, FF is followed by 0, FF or the number of a restart.
        let scan = reader.bytes.dropFirst(offset)
        let end = scan.indices.dropLast().last { scan[$0] == 0xff && scan[$0 + 1] == 0xd9 }
        if end != nil { truncation = nil }
    }

    private mutating func readPNG() {
        bits = reader.number(at: 24, count: 1)
        let colors = [0: "grey", 2: "RGB", 3: "palette", 4: "grey", 6: "RGB"]
        color = reader.number(at: 25, count: 1).flatMap { colors[$0] }
        var offset = 8
        while let length = reader.number(at: offset, count: 4), let name = reader.text(at: offset + 4, count: 4) {
            offset += 12 + length
            if name == "IEND" { break }
        }
        guard offset > count || offset < 20 || reader.text(at: offset - 8, count: 4) != "IEND" else { return }
        truncation = "the file ends after \(count) bytes, without the end of the image"
    }

    private mutating func readGIF() {
        (bits, color) = (8, "palette")
        // Some programs write bytes behind the trailer.
        guard !reader.bytes.suffix(1_024).contains(0x3b) else { return }
        truncation = "the file ends after \(count) bytes, without the trailer"
    }

    /// Adds the sizes of the outermost boxes.
    private mutating func readBoxes() {
        var offset = 0
        while let size = reader.number(at: offset, count: 4) {
            // A box of size 0 reaches to the end of the file, and 1 stands for a size of 64 bits.
            if size == 0 { return }
            let large =
                (reader.number(at: offset + 8, count: 4) ?? 0) << 32 | (reader.number(at: offset + 12, count: 4) ?? 0)
            let length = size == 1 ? large : size
            guard length >= 8, length <= Int.max - offset else { return }
            offset += length
        }
        expect(offset)
    }
}
