import Eidetic
import EideticCore

/// A generator of distinct file names from URLs; no name refers to another directory.
struct UniqueFileNames {
    private var usedNames: Set<String> = []
    /// The last number that was appended to each name.
    private var lastNumbers: [String: Int] = [:]

    /// Makes no other name equal to that of a file, whatever its extension.
    mutating func reserve(_ fileName: String) -> String {
        let stem = Self.removingExtension(fileName)
        usedNames.insert(stem.lowercased())
        return stem
    }

    /// Returns whether a text is the name of a file that a run can have written.
    static func isSafe(_ name: String) -> Bool {
        name.first != "." && !name.unicodeScalars.contains { $0 == "/" || $0 == "\0" }
    }

    /// Returns a name for the image at `url`, without a file extension, because its format is not known yet.
    ///
    /// If the name is used already, in upper or lower case, a number is appended: `photo`, `photo-2`, `photo-3`. A name
    /// has at most 200 bytes of UTF-8, which leaves space for the number and the extension.
    ///
    /// - Complexity: O(*n*) in the length of the URL, on average over all names.
    mutating func next(for url: String) -> String { next(stem: Self.stem(of: url)) }

    /// Returns a name for an image that its server calls so, such as `photo.jpg`.
    mutating func next(forRemoteName name: String) -> String {
        let stem = Self.removingExtension(Self.sanitized(name))
        return next(stem: stem.isEmpty ? "image" : stem)
    }

    private mutating func next(stem: String) -> String {
        let stem = Self.truncated(stem)
        let key = stem.lowercased()
        if usedNames.insert(key).inserted { return stem }
        // Each number that is skipped belongs to another name, so all loops together are linear.
        var number = lastNumbers[key, default: 1]
        repeat { number += 1 } while !usedNames.insert("\(key)-\(number)").inserted
        lastNumbers[key] = number
        return "\(stem)-\(number)"
    }

    mutating func next(forFile path: String) -> String {
        // The characters that have a meaning in URLs are escaped.
        let special: [Unicode.Scalar] = ["%", "?", "#"]
        let escaped = path.unicodeScalars.map {
            special.contains($0) ? "%" + String($0.value, radix: 16) : String($0)
        }
        return next(for: "file://-/" + escaped.joined())
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
        guard !url.utf8.prefix(5).elementsEqual("data:".utf8, by: { $0 | 0x20 == $1 }) else { return "image" }
        let path = Array(url.utf8).prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let components = path.split(separator: UInt8(ascii: "/"))
        let parts = components.dropFirst(components.first?.last == UInt8(ascii: ":") ? 1 : 0)
        let isHost = parts.count == 1
        // Without user and password.
        let component = isHost ? parts.last?.split(separator: UInt8(ascii: "@")).last : parts.last
        let last = component.map { sanitized(percentDecoded($0)) } ?? ""
        let stem = isHost ? last : removingExtension(last)
        return stem.isEmpty ? "image" : stem
    }

    private static func removingExtension(_ name: String) -> String {
        let scalars = name.unicodeScalars
        guard let dot = scalars.lastIndex(of: "."), dot > scalars.startIndex else { return name }
        return String(scalars[..<dot])
    }

    /// Decodes percent-encoded characters; invalid UTF-8 becomes the replacement character.
    private static func percentDecoded(_ text: ArraySlice<UInt8>) -> String {
        String(decoding: text.contains(UInt8(ascii: "%")) ? DataURL.percentDecoded(text)[...] : text, as: UTF8.self)
    }

    /// Decodes percent-encoded bytes.
    static func percentDecodedBytes(_ text: Substring) -> [UInt8] { Array(DataURL.percentDecoded(text.utf8)) }

    private static let special: [Unicode.Scalar] = ["/", "\\", "?", "*", ":", "|", "\"", "<", ">"]

    /// Replaces characters that are invalid in file names or special in shells, and removes leading dots.
    ///
    /// It compares Unicode scalars, because a character may combine a slash with an accent.
    private static func sanitized(_ name: String) -> String {
        let scalars = name.unicodeScalars.drop { $0 == "." || $0 == " " || $0 == "-" }
        func isUnsafe(_ scalar: Unicode.Scalar) -> Bool { special.contains(scalar) || scalar.isControl }
        guard scalars.contains(where: isUnsafe) else { return String(scalars) }
        return String(String.UnicodeScalarView(scalars.map { isUnsafe($0) ? "_" : $0 }))
    }
}
