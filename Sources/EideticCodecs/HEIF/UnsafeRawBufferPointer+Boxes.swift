#if AVIF || HEIF
/// The boxes that HEIF files are made of.
///
/// - SeeAlso: ISO/IEC 14496-12, 4.2.
extension UnsafeRawBufferPointer {
    /// The content of a box that lies within others, each the first of its name.
    func box(_ path: StaticString...) -> UnsafeRawBufferPointer? {
        path.reduce(self as UnsafeRawBufferPointer?) { $0?.boxes($1).first }
    }

    /// The contents of all boxes of this name.
    func boxes(_ name: StaticString) -> [UnsafeRawBufferPointer] {
        allBoxes.compactMap { contains(name, at: $0.name) ? slice($0.start, $0.end - $0.start) : nil }
    }

    /// Where the boxes have their names and contents, as far as they are complete.
    var allBoxes: [(name: Int, start: Int, end: Int)] {
        var found: [(name: Int, start: Int, end: Int)] = []
        var offset = 0
        while let short = big32(offset) {
            var length = short, head = 8
            if short == 0 { length = count - offset }
            if short == 1, let high = big32(offset + 8), let low = big32(offset + 12), high < 1 << 30 {
                (length, head) = (high << 32 | low, 16)
            }
            guard length >= head, length <= count - offset else { break }
            found.append((offset + 4, offset + head, offset + length))
            offset += length
        }
        return found
    }
}
#endif
