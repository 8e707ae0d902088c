import EideticCore

/// The directory at the beginning of an icon or cursor file.
struct ICODirectory {
    /// One image of the file.
    struct Entry {
        let size: PixelSize
        let offset: Int
    }

    /// The largest image; the first of several equal ones (docs/decisions/0022).
    let largest: Entry

    /// Parses the directory.
    ///
    /// - Returns: `nil` if `bytes` end within it.
    init?(_ bytes: UnsafeRawBufferPointer) throws(EideticError) {
        guard let count = bytes.littleEndian16(at: 4) else { return nil }
        guard count > 0 else { throw EideticError(.corrupt, message: "ICO: the directory is empty") }
        var largest: Entry?
        for index in 0..<count {
            guard let entry = Self.entry(in: bytes, at: 6 + 16 * index) else { return nil }
            guard let current = largest else { largest = entry; continue }
            if entry.size.pixelCount > current.size.pixelCount { largest = entry }
        }
        guard let largest else { return nil }
        self.largest = largest
    }

    private static func entry(in bytes: UnsafeRawBufferPointer, at start: Int) -> Entry? {
        guard let width = bytes.uint8(at: start), let height = bytes.uint8(at: start + 1),
            let offset = bytes.littleEndian32(at: start + 12)
        else { return nil }
        let size = PixelSize(width: width == 0 ? 256 : width, height: height == 0 ? 256 : height)
        return Entry(size: size, offset: offset)
    }
}
