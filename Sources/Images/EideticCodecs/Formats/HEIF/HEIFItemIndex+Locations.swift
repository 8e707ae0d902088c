#if AVIF || HEIF
extension HEIFItemIndex {
    /// The sizes of the fields of an item location box.
    private struct FieldSizes {
        let offset: Int
        let length: Int
        let base: Int
        let index: Int
    }

    /// Reads the item location box.
    ///
    /// - SeeAlso: ISO/IEC 14496-12, 8.11.3.
    mutating func readLocations(in meta: UnsafeRawBufferPointer) {
        guard let table = meta.box("iloc") else { return }
        Self.forEachExtent(in: table) { item, extent in
            if let extent { extents[item, default: []].append(extent) }
        }
    }

    /// Returns the items of an item location box in their order.
    static func locatedItems(in table: UnsafeRawBufferPointer) -> [Int] {
        var items: [Int] = []
        forEachExtent(in: table) { item, _ in if items.last != item { items.append(item) } }
        return items
    }

    /// Returns `true` if an item of a file has several extents without fields, which take no bytes: a file of 240 KB
    /// could list 2.6 thousand million, for each of which libavif allocates memory.
    static func listsExtentsWithoutFields(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let box = bytes.box("meta"), let meta = box.slice(at: 4, count: box.count - 4) else { return false }
        return !meta.boxes(named: "iloc").allSatisfy { forEachExtent(in: $0) { _, _ in } }
    }

    /// Calls `body` with each extent; with `nil` for one that lies in another item.
    ///
    /// - Returns: `false` if an item has several extents without fields, of which it calls `body` with one.
    @discardableResult
    private static func forEachExtent(in table: UnsafeRawBufferPointer, body: (_ item: Int, Extent?) -> Void) -> Bool {
        guard let version = table.uint8(at: 0), version <= 2, let sizes = table.bigEndian16(at: 4) else { return true }
        let fields = FieldSizes(
            offset: sizes >> 12,
            length: sizes >> 8 & 15,
            base: sizes >> 4 & 15,
            index: version == 0 ? 0 : sizes & 15
        )
        var cursor = Cursor(bytes: table, offset: 6)
        var areBounded = true
        for _ in 0..<(cursor.read(version < 2 ? 2 : 4) ?? 0) {
            guard let item = cursor.read(version < 2 ? 2 : 4),
                let method = version == 0 ? 0 : cursor.read(2).map({ $0 & 15 }),
                cursor.read(2) != nil, let base = cursor.read(fields.base), let extentCount = cursor.read(2)
            else { return areBounded }
            let isBounded = extentCount <= 1 || fields.index + fields.offset + fields.length > 0
            if !isBounded { areBounded = false }
            for _ in 0..<(isBounded ? extentCount : 1) {
                guard cursor.read(fields.index) != nil, let offset = cursor.read(fields.offset),
                    let length = cursor.read(fields.length)
                else { return areBounded }
                let isReadable = method <= 1 && offset <= Int.max - base
                let extent = Extent(
                    offset: isReadable ? base + offset : 0,
                    length: length,
                    isInItemData: method == 1
                )
                body(item, isReadable ? extent : nil)
            }
        }
        return areBounded
    }

    /// A reader of big-endian numbers of 0, 2, 4 or 8 bytes.
    private struct Cursor {
        let bytes: UnsafeRawBufferPointer
        var offset: Int

        mutating func read(_ size: Int) -> Int? {
            defer { offset += size }
            switch size {
            case 0: return 0
            case 2: return bytes.bigEndian16(at: offset)
            case 4: return bytes.bigEndian32(at: offset)
            case 8:
                guard let high = bytes.bigEndian32(at: offset), let low = bytes.bigEndian32(at: offset + 4),
                    high < 1 << 30
                else { return nil }
                return high << 32 | low
            default: return nil
            }
        }
    }
}
#endif
