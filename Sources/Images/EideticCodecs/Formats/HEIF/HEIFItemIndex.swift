#if AVIF || HEIF

/// The items of a HEIF file by their identifiers: types, properties, references and the places of their data.
///
/// Built in one pass over the tables, so that thousands of tiles take linear time.
///
/// - SeeAlso: ISO/IEC 14496-12, 8.11; ISO/IEC 23008-12, 6.6 and 9.3.
struct HEIFItemIndex {
    /// A part of an item's data.
    struct Extent {
        let offset: Int
        let length: Int
        /// A Boolean value indicating whether the offset counts within the `idat` box, instead of the file.
        let isInItemData: Bool
    }

    private let file: UnsafeRawBufferPointer
    private let meta: UnsafeRawBufferPointer
    private let properties: [(name: UnsafeRawBufferPointer, content: UnsafeRawBufferPointer)]
    private var types: [Int: Int] = [:]
    /// The position of each item in the first list of items, that of locations or that of types.
    private var itemRanks: [Int: Int] = [:]
    private var propertyNumbers: [Int: [Int]] = [:]
    /// The items from which a derived image is made: the tiles of a grid, in order and with repetitions.
    private var parts: [Int: [Int]] = [:]
    var extents: [Int: [Extent]] = [:]
    private var auxiliaries: [Int: [Int]] = [:]
    /// The image that is shown.
    let primaryItem: Int
    /// The changes that name the base of an image in place of the image, where the libraries do not know it.
    private(set) var baseEdits: [FileCopy.Edit]

    /// Reads the tables of a file; `nil` if it has no primary item.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard let items = HEIFItems(bytes), let box = bytes.box("meta"),
            let meta = box.slice(at: 4, count: box.count - 4)
        else { return nil }
        file = bytes
        self.meta = meta
        primaryItem = items.primaryItem
        baseEdits = items.primaryEdit.map { [$0] } ?? []
        var properties: [(name: UnsafeRawBufferPointer, content: UnsafeRawBufferPointer)] = []
        meta.box("iprp", "ipco")?.forEachBox {
            properties.append(($0, $1)); return true
        }
        self.properties = properties
        readTypes()
        readAssociations()
        readReferences()
        readLocations(in: meta)
        readRanks()
    }

    /// Returns `true` if the item has this type of four characters; otherwise, `false`.
    private func isType(_ name: StaticString, item: Int) -> Bool { types[item] == Self.code(name) }

    /// Returns the items of a type of four characters, in the order of their numbers.
    func items(ofType name: StaticString) -> [Int] {
        let code = Self.code(name)
        return types.filter { $0.value == code }.keys.sorted()
    }

    /// A Boolean value indicating whether libavif does not know how the primary image is made from others, or would
    /// make another one: before version 1.1, it arranges the tiles of a grid, or of its alpha, in the order of their
    /// items in the file's first list.
    var needsHEIF: Bool {
        if isType("iden", item: primaryItem) || isType("iovl", item: primaryItem) { return true }
        return ([primaryItem] + alphaItems(of: primaryItem)).contains { item in
            guard isType("grid", item: item) else { return false }
            let ranks = (parts[item] ?? []).map { itemRanks[$0] ?? .max }
            return zip(ranks, ranks.dropFirst()).contains { $0 > $1 }
        }
    }

    /// The number of pixels of the largest part from which a primary grid and its alpha are made; `nil` without a grid.
    var largestTile: UInt64? {
        guard isType("grid", item: primaryItem) else { return nil }
        let images = [primaryItem] + alphaItems(of: primaryItem)
        let tiles = images.flatMap { isType("grid", item: $0) ? parts[$0] ?? [] : [$0] }
        return (tiles + tiles.flatMap(alphaItems)).compactMap(pixelCount).max()
    }

    private func pixelCount(of item: Int) -> UInt64? {
        guard let size = properties(of: item, named: "ispe").first, let width = size.bigEndian32(at: 4),
            let height = size.bigEndian32(at: 8)
        else { return nil }
        return UInt64(width) * UInt64(height)
    }

    /// A Boolean value indicating whether the primary image has an alpha, or one of those from which it is made.
    var hasAlpha: Bool {
        var images: Set = [primaryItem]
        for _ in 0..<8 where !images.isEmpty {
            if images.contains(where: { !alphaItems(of: $0).isEmpty }) { return true }
            images = Set(images.flatMap { parts[$0] ?? [] })
        }
        return false
    }

    /// The change that puts the alphas of the primary grid's tiles in the place of the tiles; `nil` unless each tile
    /// has an alpha, the grid has none, and libavif would arrange them as the tiles.
    var alphaTiles: FileCopy.Edit? {
        guard isType("grid", item: primaryItem), alphaItems(of: primaryItem).isEmpty, let tiles = parts[primaryItem],
            let place = placeOfTiles
        else { return nil }
        let alphas = tiles.compactMap { alphaItems(of: $0).first }
        let ranks = alphas.map { itemRanks[$0] ?? .max }
        guard !alphas.isEmpty, alphas.count == tiles.count, zip(ranks, ranks.dropFirst()).allSatisfy({ $0 < $1 }) else {
            return nil
        }
        return .init(place, numbers: alphas)
    }

    /// The place of the only list of the primary grid's tiles.
    private var placeOfTiles: UnsafeRawBufferPointer? {
        var places: [UnsafeRawBufferPointer] = []
        forEachReference { name, item, _, place in
            if name.contains("dimg"), item == primaryItem { places.append(place) }
        }
        return places.count == 1 ? places[0] : nil
    }

    /// A Boolean value indicating whether the primary image is made from itself, or from others too many times:
    /// libheif 1.15 would call itself until the stack is full.
    var isEndless: Bool {
        var heights: [Int: Int] = [:]
        return height(of: primaryItem, depth: 0, known: &heights) == nil
    }

    /// Returns how many images, each made from the next one, an item is made from; `nil` if they are too many.
    private func height(of item: Int, depth: Int, known heights: inout [Int: Int]) -> Int? {
        guard depth + (heights[item] ?? 0) < 8 else { return nil }
        if let height = heights[item] { return height }
        var height = 0
        for part in (parts[item] ?? []) + alphaItems(of: item) {
            guard let below = self.height(of: part, depth: depth + 1, known: &heights) else { return nil }
            height = max(height, below + 1)
        }
        heights[item] = height
        return height
    }

    /// A Boolean value indicating whether an image is made from an item that does not exist, or is no image: libheif
    /// 1.15 asserts that it does.
    var hasMissingPart: Bool {
        let derived: [Int] = [Self.code("grid"), Self.code("iden"), Self.code("iovl")]
        return types.contains { item, type in
            derived.contains(type) && !(parts[item] ?? []).allSatisfy(isKnownImage)
        }
    }

    /// Returns `true` if an item is an image of a type that libheif 1.15 knows; otherwise, `false`.
    func isKnownImage(_ item: Int) -> Bool { types[item].map { Self.isKnownImage(ofType: $0) } ?? false }

    /// Returns `true` for the type of an image that libheif 1.15 knows; otherwise, `false`.
    static func isKnownImage(ofType type: Int) -> Bool { knownImages.contains(type) }

    /// The number of images that the libraries do not know, each made from the next one, and the largest number of a
    /// base: it must fit into the place of any other.
    static let maximumBaseCount = 4, maximumBaseNumber = 0xffff

    private static let knownImages = Set([code("grid"), code("iden"), code("iovl"), code("hvc1"), code("av01")])

    /// A Boolean value indicating whether a grid or an overlay says that its canvas is more than four times as large as
    /// the image that its properties announce: libheif 1.15 allocates it, and ends the process where it cannot.
    var hasOversizedCanvas: Bool {
        types.keys.contains { item in
            guard let canvas = canvasSize(of: item) else { return false }
            guard let announced = properties(of: item, named: "ispe").first,
                let width = announced.bigEndian32(at: 4), let height = announced.bigEndian32(at: 8)
            else { return true }
            return Double(canvas.width) * Double(canvas.height) > 4 * Double(width) * Double(height)
        }
    }

    /// The size that the data of a grid or of an overlay has (ISO/IEC 23008-12, 6.6.2); `nil` for another item.
    private func canvasSize(of item: Int) -> (width: Int, height: Int)? {
        let isGrid = isType("grid", item: item)
        guard isGrid || isType("iovl", item: item), let data = data(of: item) else { return nil }
        // Behind version and flags: the numbers of rows and columns, or four parts of a background colour.
        let start = isGrid ? 4 : 10
        return data.withUnsafeBytes { bytes in
            let isLong = (bytes.uint8(at: 1) ?? 0) & 1 == 1
            let width = isLong ? bytes.bigEndian32(at: start) : bytes.bigEndian16(at: start)
            let height = isLong ? bytes.bigEndian32(at: start + 4) : bytes.bigEndian16(at: start + 2)
            guard let width, let height else { return nil }
            return (width, height)
        }
    }

    private func alphaItems(of item: Int) -> [Int] {
        (auxiliaries[item] ?? []).filter { properties(of: $0, named: "auxC").contains(where: HEIFItems.isAlpha) }
    }

    /// Returns the contents of an item's properties with the given name.
    func properties(of item: Int, named name: StaticString) -> [UnsafeRawBufferPointer] {
        (propertyNumbers[item] ?? []).compactMap { number in
            guard properties.indices.contains(number - 1), properties[number - 1].name.contains(name) else {
                return nil
            }
            return properties[number - 1].content
        }
    }

    /// Returns the data of an item, in one piece; `nil` if it lies outside the file, or is longer than it.
    func data(of item: Int) -> [UInt8]? {
        var data: [UInt8] = []
        for extent in extents[item] ?? [] {
            let source = extent.isInItemData ? meta.box("idat") : file
            guard let source else { return nil }
            // A length of 0 means the rest of the file.
            let length = extent.length == 0 ? source.count - extent.offset : extent.length
            guard let part = source.slice(at: extent.offset, count: length), data.count + length <= file.count else {
                return nil
            }
            data += part
        }
        return data.isEmpty ? nil : data
    }

    private static func code(_ name: StaticString) -> Int {
        name.withUTF8Buffer { $0.reduce(0) { $0 << 8 | Int($1) } }
    }

    private mutating func readTypes() {
        for table in meta.boxes(named: "iinf") {
            Self.forEachEntry(of: table) { item, entry, start in types[item] = entry.bigEndian32(at: start) }
        }
    }

    /// Calls `body` with the identifier and content of each entry, and the offset of its type.
    static func forEachEntry(
        of table: UnsafeRawBufferPointer,
        body: (_ item: Int, _ entry: UnsafeRawBufferPointer, _ start: Int) -> Void
    ) {
        let start = table.uint8(at: 0) == 0 ? 6 : 8
        guard let list = table.slice(at: start, count: table.count - start) else { return }
        for entry in list.boxes(named: "infe") {
            guard let version = entry.uint8(at: 0), version >= 2 else { continue }
            let item = version == 2 ? entry.bigEndian16(at: 4) : entry.bigEndian32(at: 4)
            if let item { body(item, entry, version == 2 ? 8 : 10) }
        }
    }

    private static func listedItems(in table: UnsafeRawBufferPointer) -> [Int] {
        var items: [Int] = []
        forEachEntry(of: table) { item, _, _ in items.append(item) }
        return items
    }

    private mutating func readRanks() {
        var lists: [[Int]] = []
        meta.forEachBox { name, table in
            if name.contains("iloc") { lists.append(Self.locatedItems(in: table)) }
            if name.contains("iinf") { lists.append(Self.listedItems(in: table)) }
            return lists.isEmpty
        }
        for (rank, item) in (lists.first ?? []).enumerated() where itemRanks[item] == nil { itemRanks[item] = rank }
    }

    private mutating func readAssociations() {
        for table in meta.box("iprp")?.boxes(named: "ipma") ?? [] {
            let isLong = table.uint8(at: 0) != 0
            let isWide = (table.uint8(at: 3) ?? 0) & 1 == 1
            var offset = 8
            while let item = isLong ? table.bigEndian32(at: offset) : table.bigEndian16(at: offset),
                let count = table.uint8(at: offset + (isLong ? 4 : 2))
            {
                offset += isLong ? 5 : 3
                // The most significant bit marks essential properties.
                let numbers = (0..<count).compactMap { index in
                    isWide
                        ? table.bigEndian16(at: offset + 2 * index).map { $0 & 0x7fff }
                        : table.uint8(at: offset + index).map { $0 & 0x7f }
                }
                propertyNumbers[item, default: []] += numbers
                offset += count * (isWide ? 2 : 1)
            }
        }
    }

    private mutating func readReferences() {
        var parts: [Int: [Int]] = [:], auxiliaries: [Int: [Int]] = [:]
        forEachReference { name, item, targets, _ in
            if name.contains("dimg") { parts[item, default: []] += targets }
            if name.contains("auxl") { for target in targets { auxiliaries[target, default: []].append(item) } }
        }
        self.auxiliaries = auxiliaries
        for (item, targets) in parts { self.parts[item] = targets.map { base(of: $0, parts: parts) } }
        var edits: [FileCopy.Edit] = []
        forEachReference { name, item, targets, place in
            guard name.contains("dimg"), isKnownImage(item) else { return }
            let bases = targets.map { base(of: $0, parts: parts) }
            if bases != targets { edits.append(.init(place, numbers: bases)) }
        }
        baseEdits += edits
    }

    /// Returns the base of an image that the libraries do not know, or the image.
    private func base(of item: Int, parts: [Int: [Int]]) -> Int {
        var base = item
        for _ in 0..<Self.maximumBaseCount {
            guard types[base] != nil, !isKnownImage(base), let next = parts[base]?.first,
                next <= Self.maximumBaseNumber
            else { break }
            base = next
        }
        return base
    }

    /// Calls `body` with the name of each list of references, the item to which it belongs, the targets, and their
    /// place in the file.
    func forEachReference(
        body: (_ name: UnsafeRawBufferPointer, _ item: Int, _ targets: [Int], _ place: UnsafeRawBufferPointer) -> Void
    ) {
        for table in meta.boxes(named: "iref") {
            let size = table.uint8(at: 0) == 0 ? 2 : 4
            guard let list = table.slice(at: 4, count: table.count - 4) else { continue }
            list.forEachBox { name, reference in
                let number = size == 2 ? reference.bigEndian16 : reference.bigEndian32
                guard let item = number(0), let announced = reference.bigEndian16(at: size) else { return true }
                // The box may end before the announced count.
                let count = min(announced, max(0, reference.count - size - 2) / size)
                let targets = (0..<count).compactMap { number(size + 2 + size * $0) }
                guard let place = reference.slice(at: size + 2, count: size * targets.count) else { return true }
                body(name, item, targets, place)
                return true
            }
        }
    }
}
#endif
