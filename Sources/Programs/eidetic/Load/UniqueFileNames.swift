import Eidetic
import EideticCore

/// A generator of distinct file names from URLs; no name refers to another directory.
struct UniqueFileNames {
    private var usedNames: Set<String> = []
    /// The last number that was appended to each name.
    private var lastNumbers: [String: Int] = [:]

    /// Returns a name for the image at `url`, without a file extension, because its format is not known yet.
    ///
    /// If the name is used already, in upper or lower case, a number is appended: `photo`, `photo-2`, `photo-3`. A name
    /// has at most 200 bytes of UTF-8, which leaves space for the number and the extension.
    ///
    /// - Complexity: O(*n*) in the length of the URL, on average over all names.
    mutating func next(for url: String) -> String {
        let stem = Self.truncated(Self.stem(of: url))
        let key = stem.lowercased()
        if usedNames.insert(key).inserted { return stem }
        // Each number that is skipped belongs to another name, so all loops together are linear.
        var number = lastNumbers[key, default: 1]
        repeat { number += 1 } while !usedNames.insert("\(key)-\(number)").inserted
        lastNumbers[key] = number
        return "\(stem)-\(number)"
    }

    private static func truncated(_ name: String) -> String {
        var byteCount = 0
        let scalars = name.unicodeScalars.prefix { scalar in
            byteCount += UTF8.width(scalar)
            return byteCount <= 200
        }
        return String(scalars)
    }

    /// Returns the last path component of a URL without its file extension, or the host if the path is empty.
    static func stem(of url: String) -> String {
        guard !url.lowercased().hasPrefix("data:") else { return "image" }
        let path = url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let parts = path.split(separator: UInt8(ascii: "/")).dropFirst(Substring(path).contains("://") ? 1 : 0)
        let last = parts.last.map { sanitized(percentDecoded($0)) } ?? ""
        let isHost = parts.count == 1
        let stem = isHost ? last : removingExtension(last)
        return stem.isEmpty ? "image" : stem
    }

    private static func removingExtension(_ name: String) -> String {
        let scalars = name.unicodeScalars
        guard let dot = scalars.lastIndex(of: "."), dot > scalars.startIndex else { return name }
        return String(scalars[..<dot])
    }

    /// Decodes percent-encoded characters; invalid UTF-8 becomes the replacement character.
    private static func percentDecoded(_ text: Substring.UTF8View) -> String {
        String(decoding: DataURL.percentDecoded(text), as: UTF8.self)
    }

    /// Replaces characters that are invalid in file names or special in shells, and removes leading dots.
    ///
    /// It compares Unicode scalars, because a character may combine a slash with an accent.
    private static func sanitized(_ name: String) -> String {
        let special: Set<Unicode.Scalar> = ["/", "\\", "?", "*", ":", "|", "\"", "<", ">"]
        let safe = name.unicodeScalars.map { special.contains($0) || $0.isControl ? "_" : $0 }
        return String(String.UnicodeScalarView(safe.drop { $0 == "." || $0 == " " || $0 == "-" }))
    }
}
