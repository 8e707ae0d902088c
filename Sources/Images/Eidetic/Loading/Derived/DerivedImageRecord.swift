import EideticCore
import EideticStore

/// The facts about a derived image that its own bytes do not have, in the extended data of its entry.
///
/// An entry without a record was stored by the application.
struct DerivedImageRecord: Sendable, Hashable {
    /// The encoded image that it was made from; it is out of date as soon as the resource has other bytes.
    let provenance: Image.Provenance
    /// The format and the upright size of that image.
    let format: ImageFormat
    let sourceSize: PixelSize
    /// A Boolean value indicating whether that image has one frame, so that this one stands for all its frames.
    let isStill: Bool

    private static let marker = "eidetic-derived-1"

    /// Creates the record of an image; `nil` if it was not decoded from bytes.
    init?(_ image: Image, isStill: Bool) {
        guard let provenance = image.provenance else { return nil }
        self.provenance = provenance
        format = image.format
        sourceSize = image.sourceSize
        self.isStill = isStill
    }

    /// Creates the record in the metadata of an entry; `nil` if there is none.
    init?(_ metadata: DiskCache.Metadata) {
        let text = String(decoding: metadata.extendedData.prefix(256), as: UTF8.self)
        let parts = text.split(separator: " ")
        guard parts.count == 7, parts[0] == Self.marker, let checksum = UInt64(parts[1], radix: 16),
            let byteCount = Int(parts[2]), let width = Int(parts[3]), let height = Int(parts[4]),
            let format = ImageFormat(named: String(parts[5]))
        else { return nil }
        provenance = Image.Provenance(byteCount: ByteCount(byteCount), checksum: checksum)
        self.format = format
        sourceSize = PixelSize(width: width, height: height)
        isStill = parts[6] == "still"
    }

    /// The record as the extended data of an entry.
    var encoded: [UInt8] {
        let parts = [
            Self.marker, String(provenance.checksum, radix: 16), "\(provenance.byteCount.bytes)",
            "\(sourceSize.width)", "\(sourceSize.height)", format.rawValue,
            isStill ? "still" : "first",
        ]
        return Array(parts.joined(separator: " ").utf8)
    }

    /// Returns whether the image was made from the bytes of an entry, which has not expired.
    func describes(_ original: EntryLookup.Original?) -> Bool {
        guard let original else { return false }
        return !original.isExpired && original.checksum == provenance.checksum
    }

    /// Returns a decoded derived image with the attributes of the image that was stored.
    func restored(_ image: Image, scale: Double) -> Image {
        Image(frames: image.frames, loopCount: 1, format: format, sourceSize: sourceSize, scale: scale)
            .recording(provenance)
    }
}
