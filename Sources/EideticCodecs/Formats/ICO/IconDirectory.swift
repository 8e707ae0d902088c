import EideticCore

/// The list of pictures at the beginning of an icon or cursor.
struct IconDirectory {
    /// One picture of the file.
    struct Entry {
        let size: PixelSize
        let offset: Int
    }

    /// The largest picture; the first where several are equal (docs/decisions/0020).
    let best: Entry

    /// Reads the directory.
    ///
    /// - Returns: `nil` where `bytes` end within it.
    init?(_ bytes: UnsafeRawBufferPointer) throws(EideticError) {
        guard let count = bytes.little16(4) else { return nil }
        guard count > 0 else { throw EideticError(.corrupt, "the icon has no picture") }
        var best: Entry?
        for index in 0..<count {
            guard let entry = Self.entry(bytes, at: 6 + 16 * index) else { return nil }
            guard let current = best else { best = entry; continue }
            if entry.size.pixelCount > current.size.pixelCount { best = entry }
        }
        guard let best else { return nil }
        self.best = best
    }

    private static func entry(_ bytes: UnsafeRawBufferPointer, at start: Int) -> Entry? {
        guard let width = bytes.uint8(start), let height = bytes.uint8(start + 1),
            let offset = bytes.little32(start + 12)
        else { return nil }
        let size = PixelSize(width: width == 0 ? 256 : width, height: height == 0 ? 256 : height)
        return Entry(size: size, offset: offset)
    }
}
