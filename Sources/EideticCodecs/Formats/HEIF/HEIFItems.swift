#if AVIF || HEIF
import EideticCore

/// The pictures that a HEIF file lists, and what it says about them.
///
/// - SeeAlso: ISO/IEC 23008-12, 6.5 and 9.3 (`ipma`).
struct HEIFItems {
    private let meta: UnsafeRawBufferPointer
    /// The number of the picture that stands for the file.
    let primaryItem: Int

    /// `nil` where the list is not there, or not complete.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard let box = bytes.box("meta"), let meta = box.slice(at: 4, count: box.count - 4),
            let first = meta.box("pitm"),
            let primary = first.uint8(at: 0) == 0 ? first.bigEndian16(at: 4) : first.bigEndian32(at: 4)
        else { return nil }
        self.meta = meta
        self.primaryItem = primary
    }

    /// The size of a picture after its rotation; `nil` where it is cropped, or the file does not tell.
    func size(of item: Int) -> PixelSize? {
        guard properties(of: item, named: "clap").isEmpty, let size = properties(of: item, named: "ispe").first,
            let width = size.bigEndian32(at: 4), let height = size.bigEndian32(at: 8)
        else { return nil }
        let stored = PixelSize(width: width, height: height)
        return stored.isPositive ? (swapsSides(of: item) ? stored.transposed : stored) : nil
    }

    /// Whether a picture is turned by a quarter.
    func swapsSides(of item: Int) -> Bool {
        properties(of: item, named: "irot").contains { ($0.uint8(at: 0) ?? 0) & 1 == 1 }
    }

    /// The picture that is a picture's alpha.
    func alphaItem(of item: Int) -> Int? {
        // A file could list any number.
        auxiliaryItems(of: item).prefix(8).first { auxiliary in
            properties(of: auxiliary, named: "auxC").contains {
                $0.contains("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", at: 4)
                    || $0.contains("urn:mpeg:hevc:2015:auxid:1", at: 4)
            }
        }
    }

    /// The items that are auxiliary to another one.
    private func auxiliaryItems(of item: Int) -> [Int] {
        guard let references = meta.box("iref"), let list = references.slice(at: 4, count: references.count - 4) else {
            return []
        }
        let isLong = references.uint8(at: 0) != 0
        return list.boxes(named: "auxl").compactMap { reference in
            let number = isLong ? reference.bigEndian32 : reference.bigEndian16
            let size = isLong ? 4 : 2
            guard let from = number(0), let count = reference.bigEndian16(at: size) else { return nil }
            return (0..<count).contains { number(size + 2 + size * $0) == item } ? from : nil
        }
    }

    /// The contents of an item's properties of one name.
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

    /// As many as an association's 15 bits can name.
    private static let maximumPropertyCount = 32_767

    /// The numbers, from 1 on, of an item's properties.
    private func associations(in table: UnsafeRawBufferPointer, of item: Int) -> [Int] {
        let isLong = table.uint8(at: 0) != 0, isWide = (table.uint8(at: 3) ?? 0) & 1 == 1
        var offset = 8
        while let number = isLong ? table.bigEndian32(at: offset) : table.bigEndian16(at: offset) {
            offset += isLong ? 4 : 2
            guard let count = table.uint8(at: offset) else { break }
            let size = isWide ? 2 : 1
            if number == item {
                let offsets = (0..<count).map { offset + 1 + size * $0 }
                // The highest bit says whether a reader must know the property.
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
