import FoundationEssentials

/// A writer of AVIF files with a grid of tiles, for valid and invalid files.
struct HEIFWriter {
    /// The coded data of a tile and its configuration.
    struct Tile {
        /// The type of the item.
        let type: String
        let configuration: [UInt8]
        let data: [UInt8]

        /// A flat AV1 image of 64 x 64 pixels, made with libavif.
        static let small = Tile(
            level: 0,
            base64: "EgAKCRgVf/2iAhoNCDIdFMeHhmUCCCCeUAAAAMIRaNaVebfFwmN/qn4jmgg="
        )

        /// A flat AV1 image of 512 x 512 pixels, made with libavif.
        static let large = Tile(
            level: 1,
            base64: """
                EgAKChhiP//2iAhoNCAyRxEx4eGZQIIIJ5QAAADCEWjWlXm3xcJjf6p+I5oLp9UT/h+FfApXiZSGmLlsZjcPm7TB1Bpd8n5Z6WibmLX6
                UdX6NgKpXxPI
                """
        )

        private init(level: UInt8, base64: String) {
            let data = Data(base64Encoded: base64, options: .ignoreUnknownCharacters) ?? Data()
            self.init(data: Array(data), level: level)
        }

        /// Creates a tile from a sequence of AV1 units.
        init(data: [UInt8], level: UInt8 = 0) {
            type = "av01"
            configuration = HEIFWriter.box("av1C", [0x81, level, 0x0c, 0])
            self.data = data
        }
    }

    var columns = 2
    var rows = 2
    /// The announced side of a tile.
    var side = 64
    /// A Boolean value indicating whether all references are to the same tile.
    var repeatsTile = false
    var tile = Tile.small
    /// Boxes behind the references of the grid.
    var references: [UInt8] = []
    /// The number of items in the list; `nil` for that of the grid and its tiles.
    var itemCount: Int?

    private var tileCount: Int { repeatsTile ? 1 : columns * rows }

    /// The complete file.
    var finished: [UInt8] {
        let brand = tile.type == "av01" ? "avif" : "heic"
        let type = Self.box("ftyp", Array(brand.utf8) + Self.long(0) + Array("\(brand)mif1miaf".utf8))
        let start = type.count + meta(dataOffset: 0).count + 8
        return type + meta(dataOffset: start) + Self.box("mdat", grid + tile.data)
    }

    private var grid: [UInt8] {
        [0, 1, UInt8(rows - 1), UInt8(columns - 1)] + Self.long(columns * side) + Self.long(rows * side)
    }

    private func meta(dataOffset: Int) -> [UInt8] {
        let handler = Self.full("hdlr", Self.long(0) + Array("pict".utf8) + Array(repeating: 0, count: 13))
        let primary = Self.full("pitm", Self.short(1))
        let references = Self.full("iref", dimg + self.references)
        return Self.full(
            "meta",
            handler + primary + locations(dataOffset: dataOffset) + itemList + references + properties
        )
    }

    private var itemList: [UInt8] {
        let count = itemCount ?? tileCount + 1
        let items = (1...count).flatMap { item in
            Self.full(
                "infe",
                Self.short(item) + Self.short(0) + Array((item == 1 ? "grid" : tile.type).utf8) + [0],
                version: 2
            )
        }
        return Self.full("iinf", Self.short(count) + items)
    }

    private func locations(dataOffset: Int) -> [UInt8] {
        func entry(_ item: Int, offset: Int, count: Int) -> [UInt8] {
            Self.short(item) + Self.short(0) + Self.short(1) + Self.long(offset) + Self.long(count)
        }
        let data = (0..<tileCount).flatMap { entry(2 + $0, offset: dataOffset + grid.count, count: tile.data.count) }
        return Self.full(
            "iloc",
            [0x44, 0] + Self.short(tileCount + 1) + entry(1, offset: dataOffset, count: grid.count) + data
        )
    }

    private var dimg: [UInt8] {
        let tiles = (0..<columns * rows).flatMap { Self.short(repeatsTile ? 2 : 2 + $0) }
        return Self.box("dimg", Self.short(1) + Self.short(columns * rows) + tiles)
    }

    private var properties: [UInt8] {
        func size(_ width: Int, _ height: Int) -> [UInt8] { Self.full("ispe", Self.long(width) + Self.long(height)) }
        let list = size(columns * side, rows * side) + size(side, side) + tile.configuration
        let depths = Self.full("pixi", [3, 8, 8, 8])
        let tiles = (0..<tileCount).flatMap { item -> [UInt8] in Self.short(2 + item) + [3, 2, 0x83, 4] }
        let links = Self.full("ipma", Self.long(tileCount + 1) + Self.short(1) + [2, 1, 4] + tiles)
        return Self.box("iprp", Self.box("ipco", list + depths) + links)
    }

    static func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
        long(8 + content.count) + Array(name.utf8) + content
    }

    static func full(_ name: String, _ content: [UInt8], version: UInt8 = 0) -> [UInt8] {
        box(name, [version, 0, 0, 0] + content)
    }

    /// Returns bytes of binary digits, the last one padded with zeros.
    static func bytes(ofBits digits: String) -> [UInt8] {
        stride(from: 0, to: digits.count, by: 8).map { offset in
            let byte = digits.dropFirst(offset).prefix(8)
            return UInt8(byte + String(repeating: "0", count: 8 - byte.count), radix: 2) ?? 0
        }
    }

    static func short(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 255), UInt8(value & 255)] }

    static func long(_ value: Int) -> [UInt8] { short(value >> 16) + short(value & 0xffff) }
}
