/// Pixels per point, as the names of pictures say (C15).
package enum ImageScale {
    /// The number in "@2x" before the ending of a name, also where a URL writes `%402x`; 1 where there is none.
    ///
    /// Only 2 and 3 are known, as in the names that people give. A query behind the name does not matter.
    package static func named(_ name: String) -> Double {
        let path = name.prefix { $0 != "?" && $0 != "#" }
        for (scale, marks) in [(2.0, ["@2x.", "%402x."]), (3.0, ["@3x.", "%403x."])] {
            for mark in marks where path.lastIndex(ofText: mark).map({ !path[$0...].contains("/") }) ?? false {
                return scale
            }
        }
        return 1
    }
}

extension Substring {
    /// Where `text` begins for the last time.
    fileprivate func lastIndex(ofText text: String) -> Index? {
        indices.reversed().first { self[$0...].hasPrefix(text) }
    }
}
