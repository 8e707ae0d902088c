extension String {
    /// The text with every control character replaced by `?`, so that it cannot control a terminal or forge a line.
    ///
    /// - Complexity: O(*n*); a text without control characters is not copied.
    package var printable: String {
        let isPlain = utf8.withContiguousStorageIfAvailable { $0.allSatisfy { (0x20..<0x7f).contains($0) } } ?? false
        guard !isPlain, unicodeScalars.contains(where: \.isControl) else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.map { $0.isControl ? "?" : $0 }))
    }
}

extension Substring {
    /// The text with every control character replaced by `?`.
    package var printable: String { String(self).printable }
}

extension Unicode.Scalar {
    /// A Boolean value indicating whether the scalar controls a terminal or the order of a line's characters.
    ///
    /// `true` for the control characters C0, DEL and C1, for line and paragraph separators, and for bidirectional
    /// embeddings, overrides and isolates.
    package var isControl: Bool {
        switch value {
        case 0..<0x20, 0x7f..<0xa0, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }
}
