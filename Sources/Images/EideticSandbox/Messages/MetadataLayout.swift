package import EideticCodecs
package import EideticCore

/// The places of the parts of metadata in shared memory: one behind the other.
package struct MetadataLayout: Sendable, Hashable {
    /// The lengths of the EXIF block, the XMP packet, the profile and the other parts; `nil` for one that the file
    /// lacks.
    package let lengths: [Int?]

    /// The bytes of all parts.
    package var byteCount: Int { lengths.reduce(0) { $0 + ($1 ?? 0) } }

    /// Writes the parts; they fit.
    package static func write(_ metadata: ImageMetadata, to memory: UnsafeMutableRawBufferPointer) {
        var offset = 0
        for part in parts(of: metadata) {
            guard let part else { continue }
            UnsafeMutableRawBufferPointer(rebasing: memory[offset...]).copyBytes(from: part)
            offset += part.count
        }
    }

    /// Copies the parts out of shared memory.
    package func metadata(from memory: UnsafeRawBufferPointer) -> ImageMetadata {
        var offset = 0
        let parts = lengths.map { length -> [UInt8]? in
            guard let length else { return nil }
            defer { offset += length }
            return Array(UnsafeRawBufferPointer(rebasing: memory[offset..<offset + length]))
        }
        var metadata = ImageMetadata(exif: parts[0], xmp: parts[1], iccProfile: parts[2])
        metadata.parts = parts[3].flatMap { FormatParts(bytes: $0) }
        return metadata
    }

    private static func parts(of metadata: ImageMetadata) -> [[UInt8]?] {
        [metadata.exif, metadata.xmp, metadata.iccProfile, metadata.parts?.bytes]
    }
}

extension MetadataLayout: WireRecord {
    package init(_ metadata: ImageMetadata) { self.init(lengths: Self.parts(of: metadata).map { $0?.count }) }

    package static let layout = Layout(
        { Self(lengths: [$0, $1, $2, $3]) },
        Field({ $0.lengths[0] }, .partLength),
        Field({ $0.lengths[1] }, .partLength),
        Field({ $0.lengths[2] }, .partLength),
        Field({ $0.lengths[3] }, .partLength)
    )
}

extension Layout<Int?> {
    /// The length of a part; sums of numbers within this limit do not overflow.
    fileprivate static var partLength: Self { optional(.number(in: 0...1 << 32)) }
}
