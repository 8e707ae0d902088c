#if AVIF || HEIF
/// Access to the boxes of the ISO base media file format, on which HEIF is built.
///
/// - SeeAlso: ISO/IEC 14496-12, 4.2.
extension UnsafeRawBufferPointer {
    /// Returns the content of the first box along a path of names.
    func box(_ path: StaticString...) -> UnsafeRawBufferPointer? {
        path.reduce(self as UnsafeRawBufferPointer?) { within, name in
            var match: UnsafeRawBufferPointer?
            within?.forEachBox { boxName, content in
                if boxName.contains(name) { match = content }
                return match == nil
            }
            return match
        }
    }

    /// Returns the contents of all boxes with this name.
    func boxes(named name: StaticString) -> [UnsafeRawBufferPointer] {
        var matches: [UnsafeRawBufferPointer] = []
        forEachBox { boxName, content in
            if boxName.contains(name) { matches.append(content) }
            return true
        }
        return matches
    }

    /// Calls `body` with the name and content of each complete box until it returns false.
    func forEachBox(_ body: (_ name: UnsafeRawBufferPointer, _ content: UnsafeRawBufferPointer) -> Bool) {
        var offset = 0
        while let short = bigEndian32(at: offset) {
            var length = short
            var head = 8
            if short == 0 { length = count - offset }
            if short == 1, let high = bigEndian32(at: offset + 8), let low = bigEndian32(at: offset + 12),
                high < 1 << 30
            {
                length = high << 32 | low
                head = 16
            }
            guard length >= head, length <= count - offset, let name = slice(at: offset + 4, count: 4),
                let content = slice(at: offset + head, count: length - head), body(name, content)
            else { break }
            offset += length
        }
    }
}
#endif
