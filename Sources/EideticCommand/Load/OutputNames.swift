/// Names of files for pictures, made from their URLs: no two alike, and none that leads out of its directory.
struct UniqueFileNames {
    private var usedNames: Set<String> = []

    /// A name for the picture at `url`, without an ending: its format is known only when it is loaded.
    ///
    /// Where the name is taken, in whatever case, it gets a number: `photo`, `photo-2`, `photo-3`.
    /// A file's name may have 255 bytes; `longest` leaves some for the number and the ending.
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

    /// The last part of the URL's path without its ending; the host where the path has none.
    static func stem(of url: String) -> String {
        guard !url.lowercased().hasPrefix("data:") else { return "picture" }
        let path = url.prefix { $0 != "?" && $0 != "#" }
        let parts = path.split(separator: "/").dropFirst(path.contains("://") ? 1 : 0)
        let last = parts.last.map { sanitized(percentDecoded($0)) } ?? ""
        let isHost = parts.count == 1
        let stem = isHost ? last : removingExtension(last)
        return stem.isEmpty ? "picture" : stem
    }

    private static func removingExtension(_ name: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return name }
        return String(name[..<dot])
    }

    /// Resolves `%41`; what is no UTF-8 then becomes the replacement character.
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

    /// Replaces what a file's name cannot hold or what a shell would stumble over, and hidden files' dots.
    private static func sanitized(_ name: String) -> String {
        let safe = TerminalText.sanitized(name).map { "/\\?*:|\"<>".contains($0) ? "_" : $0 }
        return String(safe.drop { $0 == "." || $0 == " " || $0 == "-" })
    }
}
