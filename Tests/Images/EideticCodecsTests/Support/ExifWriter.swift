/// A writer of EXIF blocks in either order of bytes.
struct ExifWriter {
    var bytes: [UInt8]
    let isLittle: Bool

    init(isLittle: Bool) {
        self.isLittle = isLittle
        bytes = Array((isLittle ? "II" : "MM").utf8)
        add(42, 2)
        add(8, 4)
    }

    mutating func add(_ value: Int, _ count: Int) {
        let part = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        bytes += isLittle ? part : part.reversed()
    }

    mutating func addDirectory(_ entries: [(tag: Int, type: Int, count: Int, value: Int)], next: Int) {
        add(entries.count, 2)
        for entry in entries {
            add(entry.tag, 2)
            add(entry.type, 2)
            add(entry.count, 4)
            add(entry.value, entry.type == 3 ? 2 : 4)
            if entry.type == 3 { add(0, 2) }
        }
        add(next, 4)
    }
}
