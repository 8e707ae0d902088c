import EideticCore

/// The directory at the beginning of an icon or cursor file.
struct ICODirectory {
    /// One image of the file.
    struct Entry {
        let size: PixelSize
        let bitsPerPixel: Int
        let offset: Int

        /// Returns the bytes from the image on; `nil` if they are missing.
        func image(in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
            // The length in the directory is often wrong and not needed: the image has its own.
            offset < bytes.count ? UnsafeRawBufferPointer(rebasing: bytes[offset...]) : nil
        }
    }

    private let entries: [Entry]

    /// Parses the directory.
    ///
    /// - Returns: `nil` if `bytes` end within it.
    init?(_ bytes: UnsafeRawBufferPointer) throws(EideticError) {
        guard let count = bytes.littleEndian16(at: 4) else { return nil }
        guard count > 0 else { throw EideticError(.corrupt, message: "ICO: the directory is empty") }
        var entries: [Entry] = []
        for index in 0..<count {
            guard let entry = Self.entry(in: bytes, at: 6 + 16 * index) else { return nil }
            entries.append(entry)
        }
        self.entries = entries
    }

    /// The largest image; of several, that with the most bits per pixel, and of those the first.
    var largest: Entry? { Self.best(of: entries) { $0.size.pixelCount > $1.size.pixelCount } }

    /// Returns the smallest image of at least a size in both directions; `nil` if there is none.
    func smallest(covering size: PixelSize) -> Entry? {
        Self.best(of: entries.filter { $0.size.covers(size) }) {
            $0.size.pixelCount < $1.size.pixelCount
        }
    }

    private static func best(of candidates: [Entry], isBetter: (Entry, Entry) -> Bool) -> Entry? {
        var best: Entry?
        for entry in candidates {
            guard let current = best else { best = entry; continue }
            let isEqual = entry.size.pixelCount == current.size.pixelCount
            if isEqual ? entry.bitsPerPixel > current.bitsPerPixel : isBetter(entry, current) { best = entry }
        }
        return best
    }

    private static func entry(in bytes: UnsafeRawBufferPointer, at start: Int) -> Entry? {
        guard let width = bytes.uint8(at: start), let height = bytes.uint8(at: start + 1),
            let bits = bytes.littleEndian16(at: start + 6), let offset = bytes.littleEndian32(at: start + 12)
        else { return nil }
        let size = PixelSize(width: width == 0 ? 256 : width, height: height == 0 ? 256 : height)
        // A cursor has the position of its tip there, and some icons have 0.
        let isStated = bytes.littleEndian16(at: 2) == 1 && bits > 0
        return Entry(size: size, bitsPerPixel: isStated ? bits : bitsPerPixel(in: bytes, at: offset), offset: offset)
    }

    /// Returns the bits per pixel that the header of an image states; 32 for a PNG.
    private static func bitsPerPixel(in bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
        guard let image = bytes.slice(at: offset, count: bytes.count - offset), !ICOCodec.isPNG(image) else {
            return 32
        }
        return image.littleEndian16(at: 14) ?? 0
    }
}

extension PixelSize {
    /// Returns `true` if the size is at least another one in both directions; otherwise, `false`.
    func covers(_ other: PixelSize) -> Bool { width >= other.width && height >= other.height }
}
