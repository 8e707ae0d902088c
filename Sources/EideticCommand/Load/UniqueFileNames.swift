/// A generator of distinct file names from URLs; no name refers to another directory.
struct UniqueFileNames {
    private var usedNames: Set<String> = []

    /// Returns a name for the image at `url`, without a file extension, because its format is not known yet.
    ///
    /// If the name is used already, in upper or lower case, a number is appended: `photo`, `photo-2`, `photo-3`. The
    /// default of `maximumLength`, in bytes of UTF-8, leaves space for the number and the extension.
    mutating func next(for url: String, maximumLength: Int = 200) -> String {
        var stem = Self.stem(of: url)
        while stem.utf8.count > maximumLength { stem.removeLast() }
        var name = stem
        var number = 1
        while !usedNames.insert(name.lowercased()).inserted {
            number += 1
            name = "\(stem)-\(number)"
        }
        return name
    }

    /// Returns the last path component of a URL without its file extension, or the host if the path is empty.
    static func stem(of url: String) -> String {
        guard !url.lowercased().hasPrefix("data:") else { return "image" }
        let path = url.prefix { $0 != "?" && $0 != "#" }
        let parts = path.split(separator: "/").dropFirst(path.contains("://") ? 1 : 0)
        let last = parts.last.map { sanitized(percentDecoded($0)) } ?? ""
        let isHost = parts.count == 1
        let stem = isHost ? last : removingExtension(last)
        return stem.isEmpty ? "image" : stem
    }

    private static func removingExtension(_ name: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return name }
        return String(name[..<dot])
    }

    /// Decodes percent-encoded characters; invalid UTF-8 becomes the replacement character.
    private static func percentDecoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var remaining = Array(text.utf8)[...]
        while let byte = remaining.popFirst() {
            if byte == UInt8(ascii: "%"), remaining.count >= 2,
                let value = UInt8(String(decoding: remaining.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                remaining = remaining.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Replaces characters that are invalid in file names or special in shells, and removes leading dots.
    private static func sanitized(_ name: String) -> String {
        let safe = TerminalText.sanitized(name).map { "/\\?*:|\"<>".contains($0) ? "_" : $0 }
        return String(safe.drop { $0 == "." || $0 == " " || $0 == "-" })
    }
}
