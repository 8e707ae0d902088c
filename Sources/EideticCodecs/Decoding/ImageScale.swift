/// Pixels per point, as the names of pictures say (C15).
///
/// A loader gives it to the decoder by ``DecodeOptions/scale``, with which the picture is marked.
package enum ImageScale {
    /// The number in "@2x" before the ending of a name, also where a URL writes `%402x`; 1 where there is none.
    ///
    /// Only 2 and 3 are known, as in the names that people give. A query behind the name does not matter.
    ///
    /// - Complexity: O(*n*) in the bytes of the name.
    package static func scale(fromName name: String) -> Double {
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
