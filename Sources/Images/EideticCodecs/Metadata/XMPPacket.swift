/// An XMP packet without properties that do not hold for an image which was encoded again.
///
/// Read as XML without its entities: tags, and their attributes in quotes. A packet that is not in UTF-8 stays as it
/// is.
///
/// - SeeAlso: XMP part 1, 7.4 to 7.9.
struct XMPPacket {
    private let bytes: [UInt8]
    private let removesPosition: Bool
    /// The addresses of namespaces by their prefixes.
    private var namespaces: [String: String] = [:]

    /// Namespaces about parts of a file that are lost: gain maps, further images, and the rest of a long packet.
    private static let foreignNamespaces = [
        "http://ns.adobe.com/hdr-gain-map/", "http://ns.apple.com/HDRGainMap/", "http://ns.google.com/photos/1.0/",
        "http://ns.adobe.com/xmp/note/",
    ]
    /// Properties that the pixels, or the format, state.
    private static let staleProperties: [String: Set<String>] = [
        "http://ns.adobe.com/tiff/1.0/": ["Orientation", "ImageWidth", "ImageLength"],
        "http://ns.adobe.com/exif/1.0/": ["PixelXDimension", "PixelYDimension"],
        "http://ns.adobe.com/xap/1.0/": ["Thumbnails"],
    ]

    /// Returns a packet without stale properties; as it is if it cannot be read.
    static func current(_ packet: [UInt8]) -> [UInt8] {
        var reader = XMPPacket(bytes: packet, removesPosition: false)
        reader.readNamespaces()
        return reader.filtered() ?? packet
    }

    /// Returns a packet without stale properties and without the position; `nil` if it cannot be read.
    static func withoutPosition(_ packet: [UInt8]) -> [UInt8]? {
        // In UTF-16 and UTF-32 each character of ASCII has a zero.
        guard !packet.contains(0) else { return nil }
        var reader = XMPPacket(bytes: packet, removesPosition: true)
        reader.readNamespaces()
        return reader.filtered()
    }

    private init(bytes: [UInt8], removesPosition: Bool) {
        self.bytes = bytes
        self.removesPosition = removesPosition
    }

    private mutating func readNamespaces() {
        for tag in markup.tags {
            for attribute in attributes(of: tag) where attribute.name.hasPrefix("xmlns:") {
                namespaces[String(attribute.name.dropFirst(6))] = attribute.value
            }
        }
    }

    private func isStale(_ name: String) -> Bool {
        let parts = name.split(separator: ":", maxSplits: 1).map(String.init)
        guard let property = parts.last else { return false }
        if removesPosition, Self.isPosition(property) { return true }
        guard parts.count == 2, let namespace = namespaces[parts[0]] else { return false }
        return Self.foreignNamespaces.contains { namespace.hasPrefix($0) }
            || Self.staleProperties[namespace]?.contains(property) == true
    }

    /// Returns `true` for the properties of EXIF and those of makers, such as "GpsLongtitude" of drones.
    private static func isPosition(_ property: String) -> Bool {
        let name = property.lowercased()
        return name.hasPrefix("gps") || positionWords.contains { name.contains($0) }
    }

    private static let positionWords = ["latitude", "longitude", "longtitude", "altitude"]

    /// Returns the packet without stale parts; `nil` if one of them may have no end.
    private func filtered() -> [UInt8]? {
        var result: [UInt8] = []
        var position = 0
        /// The stale element that is left out, and how many of its name are open.
        var left: (name: String, depth: Int)?
        let (tags, isComplete) = markup
        for tag in tags {
            let name = name(of: tag)
            let isEnd = bytes[tag.lowerBound + 1] == UInt8(ascii: "/")
            let isEmpty = bytes[tag.upperBound - 2] == UInt8(ascii: "/")
            if let open = left {
                if open.name == name, !isEmpty { left?.depth += isEnd ? -1 : 1 }
                position = tag.upperBound
                if left?.depth == 0 { left = nil }
                continue
            }
            result += bytes[position..<tag.lowerBound]
            position = tag.upperBound
            if !isEnd, isStale(name) {
                if !isEmpty { left = (name, 1) }
                continue
            }
            var start = tag.lowerBound
            for attribute in attributes(of: tag) where isStale(attribute.name) {
                result += bytes[start..<attribute.range.lowerBound]
                start = attribute.range.upperBound
            }
            result += bytes[start..<tag.upperBound]
        }
        // A tag without an end may have a position.
        return left == nil && !(removesPosition && !isComplete) ? result + bytes[position...] : nil
    }

    // MARK: Tags

    /// The start tags and end tags, from "<" to behind ">", and whether all of them, and other markup, have an end.
    private var markup: (tags: [Range<Int>], isComplete: Bool) {
        var tags: [Range<Int>] = []
        var position = 0
        while let start = bytes[position...].firstIndex(of: UInt8(ascii: "<")) {
            guard start + 2 < bytes.count else { return (tags, false) }
            let isMarkup = [UInt8(ascii: "!"), UInt8(ascii: "?")].contains(bytes[start + 1])
            var quote: UInt8?
            var end = start + 1
            while end < bytes.count, quote != nil || bytes[end] != UInt8(ascii: ">") {
                if quote == bytes[end] {
                    quote = nil
                } else if quote == nil, !isMarkup, [UInt8(ascii: "\""), UInt8(ascii: "'")].contains(bytes[end]) {
                    quote = bytes[end]
                }
                end += 1
            }
            guard end < bytes.count else { return (tags, false) }
            if !isMarkup { tags.append(start..<end + 1) }
            position = end + 1
        }
        return (tags, true)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0a, 0x0d].contains(byte) }

    private func name(of tag: Range<Int>) -> String {
        let content = bytes[(tag.lowerBound + 1)..<(tag.upperBound - 1)].drop { $0 == UInt8(ascii: "/") }
        return String(decoding: content.prefix { !Self.isSpace($0) && $0 != UInt8(ascii: "/") }, as: UTF8.self)
    }

    /// Returns the attributes of a tag; each range includes the white space before it.
    private func attributes(of tag: Range<Int>) -> [(name: String, value: String, range: Range<Int>)] {
        var attributes: [(name: String, value: String, range: Range<Int>)] = []
        var position = tag.lowerBound + 1
        while let space = bytes[position..<tag.upperBound].firstIndex(where: Self.isSpace) {
            guard let start = bytes[space..<tag.upperBound].firstIndex(where: { !Self.isSpace($0) }),
                let sign = bytes[start..<tag.upperBound].firstIndex(of: UInt8(ascii: "=")),
                let open = bytes[sign..<tag.upperBound].firstIndex(where: { $0 == 0x22 || $0 == 0x27 }),
                let close = bytes[(open + 1)..<tag.upperBound].firstIndex(of: bytes[open])
            else { break }
            let name = bytes[start..<sign].prefix { !Self.isSpace($0) }
            let value = bytes[(open + 1)..<close]
            attributes.append(
                (String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self), space..<close + 1)
            )
            position = close + 1
        }
        return attributes
    }
}
