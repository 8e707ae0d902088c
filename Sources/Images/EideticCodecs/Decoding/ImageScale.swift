/// The scale factor in the name of an image file, such as "@2x".
///
/// Loaders pass it to the decoder in ``DecodeOptions/scale``.
package enum ImageScale {
    /// Returns the scale factor in the "@2x" suffix of a name or URL, where "@" may be written as `%40`.
    ///
    /// Only 2 and 3 are recognised. A query or fragment is ignored.
    ///
    /// - Returns: The scale factor; 1 if the name has none.
    /// - Complexity: O(*n*) in the bytes of the name.
    package static func scale(fromName name: String) -> Double {
        guard name.contains(byte: UInt8(ascii: "@")) || name.contains(byte: UInt8(ascii: "%")) else { return 1 }
        let path = name.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let start = path.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
        guard let dot = path[start...].lastIndex(of: UInt8(ascii: ".")) else { return 1 }
        let end = String(decoding: path[start..<dot].suffix(5), as: UTF8.self)
        for (scale, mark) in [(2.0, "2x"), (3.0, "3x")] where end.hasSuffix("@" + mark) || end.hasSuffix("%40" + mark) {
            return scale
        }
        return 1
    }
}
