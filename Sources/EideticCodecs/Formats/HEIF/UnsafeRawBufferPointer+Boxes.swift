#if AVIF || HEIF
/// The boxes that HEIF files are made of.
///
/// - SeeAlso: ISO/IEC 14496-12, 4.2.
extension UnsafeRawBufferPointer {
    /// The content of a box that lies within others, each the first of its name.
    func box(_ path: StaticString...) -> UnsafeRawBufferPointer? {
        path.reduce(self as UnsafeRawBufferPointer?) { within, name in
            var found: UnsafeRawBufferPointer?
            within?.forEachBox { boxName, content in
                if boxName.contains(name) { found = content }
                return found == nil
            }
            return found
        }
    }

    /// The contents of all boxes of this name.
    func boxes(named name: StaticString) -> [UnsafeRawBufferPointer] {
        var found: [UnsafeRawBufferPointer] = []
        forEachBox { boxName, content in
            if boxName.contains(name) { found.append(content) }
            return true
        }
        return found
    }

    /// Tells the name and the content of each box, as far as it is complete, until `body` says that it wants no more.
    func forEachBox(_ body: (_ name: UnsafeRawBufferPointer, _ content: UnsafeRawBufferPointer) -> Bool) {
        var offset = 0
        while let short = bigEndian32(at: offset) {
            var length = short, head = 8
            if short == 0 { length = count - offset }
            if short == 1, let high = bigEndian32(at: offset + 8), let low = bigEndian32(at: offset + 12),
                high < 1 << 30
            {
                (length, head) = (high << 32 | low, 16)
            }
            guard length >= head, length <= count - offset, let name = slice(at: offset + 4, count: 4),
                let content = slice(at: offset + head, count: length - head), body(name, content)
            else { break }
            offset += length
        }
    }
}
#endif
