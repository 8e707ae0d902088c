/// A writer of HEIF files, item by item, for valid and invalid files.
struct HEIFContainer {
    /// One item of the file.
    struct Item {
        let type: String
        let data: [UInt8]
        var properties: [[UInt8]] = []
        var isInItemData = false
    }

    /// One list of references.
    struct Reference {
        let type: String
        let from: Int
        let to: [Int]
    }

    let brand: String
    private var items: [Int: Item] = [:]
    private var references: [Reference] = []
    var primaryItem = 1

    init(brand: String = "avif") { self.brand = brand }

    mutating func add(_ item: Item, as identifier: Int) { items[identifier] = item }

    mutating func refer(_ type: String, from: Int, to: [Int]) {
        references.append(Reference(type: type, from: from, to: to))
    }

    /// The complete file.
    var finished: [UInt8] {
        let type = Self.box("ftyp", Array(brand.utf8) + Self.long(0) + Array("\(brand)mif1miaf".utf8))
        let start = type.count + meta(dataOffset: 0).count + 8
        let media = sorted.filter { !$0.item.isInItemData }.flatMap(\.item.data)
        return type + meta(dataOffset: start) + Self.box("mdat", media)
    }

    private var sorted: [(identifier: Int, item: Item)] {
        items.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private func meta(dataOffset: Int) -> [UInt8] {
        let handler = Self.full("hdlr", Self.long(0) + Array("pict".utf8) + Array(repeating: 0, count: 13))
        let entries = sorted.flatMap { identifier, item in
            Self.full(
                "infe",
                Self.short(identifier) + Self.short(0) + Array(item.type.utf8) + [0],
                version: 2
            )
        }
        let lists = references.flatMap { reference in
            Self.box(
                reference.type,
                Self.short(reference.from) + Self.short(reference.to.count) + reference.to.flatMap(Self.short)
            )
        }
        let data = sorted.filter(\.item.isInItemData).flatMap(\.item.data)
        var content = handler + Self.full("pitm", Self.short(primaryItem)) + locations(dataOffset: dataOffset)
        content += Self.full("iinf", Self.short(items.count) + entries)
        if !references.isEmpty { content += Self.full("iref", lists) }
        content += properties
        if !data.isEmpty { content += Self.box("idat", data) }
        return Self.full("meta", content)
    }

    private func locations(dataOffset: Int) -> [UInt8] {
        var offsets = [true: 0, false: dataOffset]
        let entries = sorted.flatMap { identifier, item -> [UInt8] in
            let offset = offsets[item.isInItemData] ?? 0
            offsets[item.isInItemData] = offset + item.data.count
            return Self.short(identifier) + Self.short(item.isInItemData ? 1 : 0) + Self.short(0) + Self.short(1)
                + Self.long(offset) + Self.long(item.data.count)
        }
        return Self.full("iloc", [0x44, 0] + Self.short(items.count) + entries, version: 1)
    }

    private var properties: [UInt8] {
        var list: [[UInt8]] = []
        let links = sorted.flatMap { identifier, item -> [UInt8] in
            let numbers = item.properties.map { property -> UInt8 in
                if !list.contains(property) { list.append(property) }
                let name = String(decoding: property[4..<8], as: UTF8.self)
                return UInt8((list.firstIndex(of: property) ?? 0) + 1) | (Self.essential.contains(name) ? 0x80 : 0)
            }
            return Self.short(identifier) + [UInt8(numbers.count)] + numbers
        }
        return Self.box(
            "iprp",
            Self.box("ipco", list.flatMap { $0 }) + Self.full("ipma", Self.long(items.count) + links)
        )
    }

    private static let essential: Set = ["av1C", "hvcC", "clap", "irot", "imir", "a1op", "lsel"]

    static func box(_ name: String, _ content: [UInt8]) -> [UInt8] { HEIFWriter.box(name, content) }

    static func full(_ name: String, _ content: [UInt8], version: UInt8 = 0) -> [UInt8] {
        HEIFWriter.full(name, content, version: version)
    }

    static func short(_ value: Int) -> [UInt8] { HEIFWriter.short(value) }

    static func long(_ value: Int) -> [UInt8] { HEIFWriter.long(value) }
}

/// Properties of items.
extension HEIFContainer {
    static func size(_ width: Int, _ height: Int) -> [UInt8] { full("ispe", long(width) + long(height)) }

    static func rotation(_ turns: UInt8) -> [UInt8] { box("irot", [turns]) }

    static func mirroring(_ axis: UInt8) -> [UInt8] { box("imir", [axis]) }

    /// Returns a clean aperture of `width` x `height` pixels whose centre lies off that of the image.
    static func crop(width: Int, height: Int, x: (Int, Int), y: (Int, Int)) -> [UInt8] {
        box("clap", [width, 1, height, 1, x.0, x.1, y.0, y.1].flatMap { long($0 & 0xffff_ffff) })
    }

    /// Returns the type of an auxiliary image, `alpha` or `depth`.
    static func auxiliary(_ type: String) -> [UInt8] {
        full("auxC", Array("urn:mpeg:mpegB:cicp:systems:auxiliary:\(type)".utf8) + [0])
    }

    /// Returns the content of a grid item.
    static func grid(columns: Int, rows: Int, width: Int, height: Int) -> [UInt8] {
        [0, 1, UInt8(rows - 1), UInt8(columns - 1)] + long(width) + long(height)
    }
}
