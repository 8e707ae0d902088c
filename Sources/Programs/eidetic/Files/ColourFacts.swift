import EideticCore

/// The meaning of the samples of a file, as its structure shows it without a decode.
struct ColourFacts {
    /// The number of bits of a sample; `nil` if it is not known.
    private(set) var bits: Int?
    /// The kind of colours, such as "RGB"; `nil` if it is not known.
    private(set) var color: String?
    /// The resolution of the chroma, such as "4:2:0"; `nil` without chroma, or if it is not known.
    private(set) var chroma: String?
    /// The name of the primaries; `nil` if the file states none, or by a profile.
    private(set) var primaries: String?
    /// "standard", "PQ" or "HLG"; `nil` if it is not known.
    private(set) var dynamicRange: String?
    /// A Boolean value indicating whether a map beside the image extends its dynamic range.
    private(set) var hasGainMap = false

    private let reader: ByteReader

    /// Looks at the structure of a file.
    ///
    /// - SeeAlso: ITU-T T.81, annex B; W3C PNG (third edition), 11.3.2; RFC 9649; ISO/IEC 14496-15, 8.3.3.1; AV1 in
    ///   ISOBMFF, 2.3; ISO 21496-1.
    init(of bytes: [UInt8], format: ImageFormat) {
        reader = ByteReader(bytes: bytes[...])
        // Drawings have none, and the header of JPEG XL states it.
        if format != .svg, format != .jpegxl { dynamicRange = "standard" }
        switch format {
        case .jpeg: readJPEG()
        case .png: readPNG()
        case .gif: (bits, color) = (8, "palette")
        case .webp: readWebP()
        case .avif, .heic: readItems()
        case .jpegxl: readJPEGXL()
        case .tiff: (bits, color) = TIFFFacts(of: bytes).map { ($0.bits, $0.color) } ?? (nil, nil)
        case .bmp: readBMP()
        default: break
        }
    }

    // MARK: JPEG XL, BMP

    private mutating func readJPEGXL() {
        let all = 0..<reader.bytes.count
        let part = box("jxlp", in: all).map { $0.dropFirst(4) }
        guard let facts = JPEGXLFacts(reader.bytes[box("jxlc", in: all) ?? part ?? all]) else { return }
        bits = facts.bits
        color = facts.color
        if !facts.hasProfile { dynamicRange = "standard" }
        if let primaries = facts.primaries ?? facts.transfer.map({ _ in 0 }) {
            readCodePoints(primaries: primaries, transfer: facts.transfer ?? 0)
        }
        hasGainMap = box("jhgm", in: all) != nil
    }

    /// Reads the number of bits of a pixel, behind the header of the file.
    private mutating func readBMP() {
        var little = reader
        little.isLittleEndian = true
        let isCore = little.number(at: 14, count: 4) == 12
        guard let depth = little.number(at: isCore ? 24 : 28, count: 2) else { return }
        (bits, color) = depth > 8 ? (depth == 16 ? 5 : 8, "RGB") : (depth, "palette")
    }

    // MARK: JPEG

    private mutating func readJPEG() {
        for (marker, range) in reader.jpegMarkers {
            if (0xc0...0xcf).contains(marker), ![0xc4, 0xc8, 0xcc].contains(marker) { readFrame(at: range.lowerBound) }
            if marker == 0xe1 || marker == 0xe2 { readSegment(range.dropFirst(4)) }
        }
    }

    private mutating func readFrame(at offset: Int) {
        bits = reader.number(at: offset + 4, count: 1)
        let count = reader.number(at: offset + 9, count: 1) ?? 0
        color = [1: "grey", 3: "YCbCr", 4: "CMYK"][count]
        guard count == 3, let luma = reader.number(at: offset + 11, count: 1),
            let chroma = reader.number(at: offset + 14, count: 1), chroma & 15 > 0, chroma >> 4 > 0
        else { return }
        let across = (luma >> 4) / (chroma >> 4)
        let down = (luma & 15) / (chroma & 15)
        self.chroma = Self.chromaName(across: across, down: down)
    }

    private static func chromaName(across: Int, down: Int) -> String? {
        switch (across, down) {
        case (1, 1): "4:4:4"
        case (2, 1): "4:2:2"
        case (2, 2): "4:2:0"
        case (1, 2): "4:4:0"
        case (4, 1): "4:1:1"
        case (4, 2): "4:1:0"
        default: nil
        }
    }

    /// Looks for the words of a gain map: of Adobe, of Apple, and of the standard.
    private mutating func readSegment(_ range: Range<Int>) {
        let words = [
            "http://ns.adobe.com/hdr-gain-map/", "http://ns.apple.com/HDRGainMap/", "urn:iso:std:iso:ts:21496:-1",
        ]
        guard let text = reader.text(at: range.lowerBound, count: 40) else { return }
        // XMP begins with an address, and NUL.
        let start = range.lowerBound + text.utf8.count + 1
        let packet = reader.text(at: start, count: max(0, range.upperBound - start)) ?? ""
        if words.contains(where: { text.hasPrefix($0) || packet.contains($0) }) { hasGainMap = true }
    }

    // MARK: PNG

    private mutating func readPNG() {
        bits = reader.number(at: 24, count: 1)
        color = reader.number(at: 25, count: 1).flatMap {
            [0: "grey", 2: "RGB", 3: "palette", 4: "grey", 6: "RGB"][$0]
        }
        for chunk in reader.pngChunks.prefix(while: { $0.name != "IDAT" }) where chunk.name == "cICP" {
            let offset = chunk.content.lowerBound
            if let first = reader.number(at: offset, count: 1), let transfer = reader.number(at: offset + 1, count: 1) {
                readCodePoints(primaries: first, transfer: transfer)
            }
        }
    }

    private mutating func readCodePoints(primaries: Int, transfer: Int) {
        let names = [1: "sRGB", 5: "BT.601", 6: "BT.601", 9: "BT.2020", 11: "DCI-P3", 12: "Display P3"]
        self.primaries = names[primaries]
        dynamicRange = [16: "PQ", 18: "HLG"][transfer] ?? "standard"
    }

    // MARK: WebP

    private mutating func readWebP() {
        bits = 8
        var offset = 12
        var little = reader
        little.isLittleEndian = true
        for _ in 0..<ByteReader.maximumStepCount {
            guard let name = reader.text(at: offset, count: 4), let length = little.number(at: offset + 4, count: 4)
            else { return }
            if name == "VP8 " { (color, chroma) = ("YCbCr", "4:2:0") }
            if name == "VP8L" { color = "RGB" }
            guard color == nil else { return }
            offset += name == "ANMF" ? 24 : 8 + length + length % 2
        }
    }

    // MARK: AVIF and HEIC

    private mutating func readItems() {
        guard let meta = box("meta", in: 0..<reader.bytes.count)?.dropFirst(4) else { return }
        let list = box("iprp", in: meta).flatMap { box("ipco", in: $0) } ?? 0..<0
        if let configuration = box("av1C", in: list) { readAV1(at: configuration.lowerBound) }
        if let configuration = box("hvcC", in: list) { readHEVC(at: configuration.lowerBound) }
        for property in boxes(in: list) where property.name == "colr" {
            let start = property.content.lowerBound
            guard reader.text(at: start, count: 4) == "nclx", let first = reader.number(at: start + 4, count: 2),
                let transfer = reader.number(at: start + 6, count: 2),
                let matrix = reader.number(at: start + 8, count: 2)
            else { continue }
            readCodePoints(primaries: first, transfer: transfer)
            if matrix == 0 { (color, chroma) = ("RGB", nil) }
            break
        }
        readGainMap(in: meta, properties: list)
    }

    private mutating func readAV1(at offset: Int) {
        guard let flags = reader.number(at: offset + 2, count: 1) else { return }
        bits = flags & 0x40 == 0 ? 8 : flags & 0x20 == 0 ? 10 : 12
        let isGrey = flags & 0x10 != 0
        color = isGrey ? "grey" : "YCbCr"
        if !isGrey { chroma = Self.chromaName(across: flags & 8 == 0 ? 1 : 2, down: flags & 4 == 0 ? 1 : 2) }
    }

    private mutating func readHEVC(at offset: Int) {
        guard let format = reader.number(at: offset + 16, count: 1),
            let depth = reader.number(at: offset + 17, count: 1)
        else { return }
        bits = 8 + depth & 7
        color = format & 3 == 0 ? "grey" : "YCbCr"
        chroma = [1: "4:2:0", 2: "4:2:2", 3: "4:4:4"][format & 3]
    }

    /// Looks for an item that is made by a gain map, and for an auxiliary image of Apple.
    private mutating func readGainMap(in meta: Range<Int>, properties: Range<Int>) {
        for property in boxes(in: properties) where property.name == "auxC" {
            let content = property.content
            if reader.text(at: content.lowerBound + 4, count: content.count - 4)?.hasSuffix(":hdrgainmap") == true {
                hasGainMap = true
            }
        }
        guard let table = box("iinf", in: meta), let version = reader.number(at: table.lowerBound, count: 1) else {
            return
        }
        for entry in boxes(in: table.dropFirst(version == 0 ? 6 : 8)) where entry.name == "infe" {
            let start = entry.content.lowerBound
            let isLong = reader.number(at: start, count: 1) == 3
            if reader.text(at: start + (isLong ? 10 : 8), count: 4) == "tmap" { hasGainMap = true }
        }
    }

    private func box(_ name: String, in range: Range<Int>) -> Range<Int>? {
        boxes(in: range).first { $0.name == name }?.content
    }

    /// Returns the boxes in a range, at most 65,536.
    private func boxes(in range: Range<Int>) -> [(name: String, content: Range<Int>)] {
        var boxes: [(name: String, content: Range<Int>)] = []
        var offset = range.lowerBound
        while offset + 8 <= range.upperBound, boxes.count < 65_536,
            let size = reader.number(at: offset, count: 4), let name = reader.text(at: offset + 4, count: 4)
        {
            let end = size == 0 ? range.upperBound : offset + size
            guard size == 0 || size >= 8, end <= range.upperBound else { break }
            boxes.append((name, offset + 8..<end))
            offset = end
        }
        return boxes
    }
}
