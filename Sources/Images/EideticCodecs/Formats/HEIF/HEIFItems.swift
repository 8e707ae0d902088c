#if AVIF || HEIF
import EideticCore

/// The items of a HEIF file and their properties.
///
/// - SeeAlso: ISO/IEC 23008-12, 6.5 and 9.3 (`ipma`).
struct HEIFItems {
    private let meta: UnsafeRawBufferPointer
    /// The image that is shown: the primary item, or the base of one that the libraries do not know.
    private(set) var primaryItem: Int
    /// The change that names this image in the file; `nil` if the file names it.
    private(set) var primaryEdit: FileCopy.Edit?

    /// Finds the `meta` box; `nil` if it is missing or incomplete.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard let box = bytes.box("meta"), let meta = box.slice(at: 4, count: box.count - 4),
            let first = meta.box("pitm"),
            let primary = first.uint8(at: 0) == 0 ? first.bigEndian16(at: 4) : first.bigEndian32(at: 4)
        else { return nil }
        self.meta = meta
        primaryItem = primary
        for _ in 0..<HEIFItemIndex.maximumBaseCount {
            guard let base = base(of: primaryItem), base <= HEIFItemIndex.maximumBaseNumber else { break }
            primaryItem = base
        }
        let size = first.uint8(at: 0) == 0 ? 2 : 4
        guard primaryItem != primary, let place = first.slice(at: 4, count: size) else { return }
        primaryEdit = .init(place, numbers: [primaryItem])
    }

    /// Returns the base of an image that the libraries do not know, such as one that a gain map makes (`tmap`): the
    /// first of those from which it is made; `nil` for other images.
    private func base(of item: Int) -> Int? {
        var isKnown = true
        for table in meta.boxes(named: "iinf") {
            HEIFItemIndex.forEachEntry(of: table) { number, entry, start in
                guard number == item, let type = entry.bigEndian32(at: start) else { return }
                isKnown = HEIFItemIndex.isKnownImage(ofType: type)
            }
        }
        return isKnown ? nil : references(named: "dimg").first { $0.from == item }?.to.first ?? nil
    }

    /// Returns the size of an item after its rotation; `nil` if it is cropped or the file has no size.
    func size(of item: Int) -> PixelSize? {
        guard properties(of: item, named: "clap").isEmpty, let size = properties(of: item, named: "ispe").first,
            let width = size.bigEndian32(at: 4), let height = size.bigEndian32(at: 8)
        else { return nil }
        let stored = PixelSize(width: width, height: height)
        return stored.isPositive ? (swapsDimensions(of: item) ? stored.transposed : stored) : nil
    }

    /// Returns `true` if the item is rotated by 90 or 270 degrees; otherwise, `false`.
    func swapsDimensions(of item: Int) -> Bool {
        properties(of: item, named: "irot").contains { ($0.uint8(at: 0) ?? 0) & 1 == 1 }
    }

    /// The luminance of the brightest light of the primary item, in candela per square metre; `nil` if the file has
    /// none.
    ///
    /// As in browsers, the display for which it was made (`mdcv`) does not count.
    ///
    /// - SeeAlso: ISO/IEC 14496-12, 12.1.6 (`clli`).
    var peakLuminance: Double? {
        properties(of: primaryItem, named: "clli").first?.bigEndian16(at: 0).map(Double.init)
    }

    /// A Boolean value indicating whether an item has more than 8 bits per channel.
    ///
    /// - SeeAlso: ISO/IEC 14496-15, 8.3.3.1.2 (`hvcC`); AV1 in ISOBMFF, 2.3.3 (`av1C`).
    var isDeep: Bool {
        let configurations: [(name: StaticString, offset: Int, mask: Int)] = [("hvcC", 17, 7), ("av1C", 2, 0x40)]
        return configurations.contains { name, offset, mask in
            allProperties(named: name).contains { ($0.uint8(at: offset) ?? 0) & mask != 0 }
        }
    }

    /// The configuration of the primary item's video, or of one of its tiles.
    var videoConfiguration: UnsafeRawBufferPointer? {
        var item = primaryItem
        // A grid may be derived once more.
        for _ in 0..<4 {
            if let configuration = properties(of: item, named: "hvcC").first { return configuration }
            let parts = references(named: "dimg").first { $0.from == item }?.to
            guard let part = parts?.first ?? nil else { return nil }
            item = part
        }
        return nil
    }

    private func allProperties(named name: StaticString) -> [UnsafeRawBufferPointer] {
        meta.box("iprp")?.box("ipco")?.boxes(named: name) ?? []
    }

    /// Returns the item with the alpha of another item.
    func alphaItem(of item: Int) -> Int? {
        // A hostile file can list any number of items.
        auxiliaryItems(of: item).prefix(8).first { auxiliary in
            properties(of: auxiliary, named: "auxC").contains(where: Self.isAlpha)
        }
    }

    /// Returns `true` if an `auxC` box names the type of an alpha image; otherwise, `false`.
    static func isAlpha(_ type: UnsafeRawBufferPointer) -> Bool {
        type.contains("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", at: 4)
            || type.contains("urn:mpeg:hevc:2015:auxid:1", at: 4)
            || type.contains("urn:mpeg:avc:2015:auxid:1", at: 4)
    }

    /// Returns the items that are auxiliary to another one.
    private func auxiliaryItems(of item: Int) -> [Int] {
        references(named: "auxl").filter { $0.to.contains(item) }.map(\.from)
    }

    /// Returns the references of a type, each from an item to others, of which a hostile file can list any number.
    private func references(named name: StaticString) -> [(from: Int, to: LazyMapSequence<Range<Int>, Int?>)] {
        guard let references = meta.box("iref"), let list = references.slice(at: 4, count: references.count - 4) else {
            return []
        }
        let isLong = references.uint8(at: 0) != 0
        return list.boxes(named: name).compactMap { reference in
            let number = isLong ? reference.bigEndian32 : reference.bigEndian16
            let size = isLong ? 4 : 2
            guard let from = number(0), let announced = reference.bigEndian16(at: size) else { return nil }
            // The box may end before the announced count.
            let count = min(announced, (reference.count - size - 2) / size)
            return (from, (0..<max(0, count)).lazy.map { number(size + 2 + size * $0) })
        }
    }

    /// Returns the contents of an item's properties with the given name.
    func properties(of item: Int, named name: StaticString) -> [UnsafeRawBufferPointer] {
        guard let all = meta.box("iprp"), let list = all.box("ipco") else { return [] }
        var boxes: [UnsafeRawBufferPointer?] = []
        list.forEachBox { boxName, content in
            boxes.append(boxName.contains(name) ? content : nil)
            return boxes.count < Self.maximumPropertyCount
        }
        return all.boxes(named: "ipma").flatMap { associations(in: $0, of: item) }.compactMap { number in
            boxes.indices.contains(number - 1) ? boxes[number - 1] : nil
        }
    }

    /// The number of properties that an association's 15 bits can address.
    private static let maximumPropertyCount = 32_767

    /// Returns the 1-based indices of an item's properties.
    private func associations(in table: UnsafeRawBufferPointer, of item: Int) -> [Int] {
        let isLong = table.uint8(at: 0) != 0
        let isWide = (table.uint8(at: 3) ?? 0) & 1 == 1
        var offset = 8
        while let number = isLong ? table.bigEndian32(at: offset) : table.bigEndian16(at: offset) {
            offset += isLong ? 4 : 2
            guard let count = table.uint8(at: offset) else { break }
            let size = isWide ? 2 : 1
            if number == item {
                let offsets = (0..<count).map { offset + 1 + size * $0 }
                // The most significant bit marks essential properties.
                return isWide
                    ? offsets.compactMap { table.bigEndian16(at: $0).map { $0 & 0x7fff } }
                    : offsets.compactMap { table.uint8(at: $0).map { $0 & 0x7f } }
            }
            offset += 1 + size * count
        }
        return []
    }
}
#endif
