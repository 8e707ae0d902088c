/// The resources of Photoshop in a JPEG, of which one may continue in the next segment.
///
/// - SeeAlso: Adobe Photoshop File Formats Specification, "Image Resource Blocks".
package struct PhotoshopResources {
    static let header: StaticString = "Photoshop 3.0\0"
    private static let signatures: [StaticString] = ["8BIM", "MeSa", "PHUT", "AgHg", "DCSR"]
    private static let iptcNumber = 0x0404

    private var all: [(number: Int, content: [UInt8])] = []
    /// A Boolean value indicating whether some bytes are no resource.
    private var hasOther = false

    /// The words for what they state, such as "IPTC".
    package var names: [String] {
        let names = all.compactMap { number, content in
            switch number {
            case Self.iptcNumber: "IPTC"
            case 0x040a where content.contains { $0 != 0 }: "copyright flag"
            case 0x040b where !content.isEmpty: "copyright URL"
            default: nil
            }
        }
        return names + (hasOther ? ["Photoshop data"] : [])
    }

    /// The content of the first resource with IPTC.
    var iptc: [UInt8]? { all.first { $0.number == Self.iptcNumber }?.content }

    /// Reads the resources of a JPEG, as far as its segments are complete.
    package init(ofJPEG file: UnsafeRawBufferPointer) {
        let headerCount = Self.header.utf8CodeUnitCount
        let bytes = JPEGMarkers(file).flatMap { marker -> [UInt8] in
            guard marker.number == 0xed, let content = marker.content, content.contains(Self.header, at: 0) else {
                return []
            }
            return Array(content.dropFirst(headerCount))
        }
        bytes.withUnsafeBytes { read($0) }
    }

    private mutating func read(_ bytes: UnsafeRawBufferPointer) {
        var offset = 0
        while Self.signatures.contains(where: { bytes.contains($0, at: offset) }),
            let number = bytes.bigEndian16(at: offset + 4),
            let nameLength = bytes.uint8(at: offset + 6)
        {
            let start = offset + 6 + (nameLength + 2) & ~1
            guard let length = bytes.bigEndian32(at: start), let content = bytes.slice(at: start + 4, count: length)
            else { break }
            all.append((number, Array(content)))
            offset = start + 4 + (length + 1) & ~1
        }
        hasOther = bytes.dropFirst(offset).contains { $0 != 0 }
    }
}
