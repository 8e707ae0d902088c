import EideticCore

/// The metadata in the segments of a JPEG.
///
/// - SeeAlso: Exif 2.32, section 4.7.2; XMP part 3, section 1.1.3; ICC.1:2022, annex B.4.
enum JPEGMetadata {
    static let exifSignature: StaticString = "Exif\0\0"
    static let xmpSignature: StaticString = "http://ns.adobe.com/xap/1.0/\0"
    private static let profileSignature: StaticString = "ICC_PROFILE\0"
    /// The largest content of a segment.
    private static let maximumLength = 65_533

    static func read(_ file: UnsafeRawBufferPointer) throws(EideticError) -> ImageMetadata {
        let segments = try JPEGSegments(file)
        var metadata = ImageMetadata(
            exif: content(of: segments.exif, after: exifSignature),
            xmp: content(of: segments.xmp, after: xmpSignature),
            iccProfile: segments.iccProfile
        )
        metadata.parts = FormatParts.ofJPEG(file)
        return metadata
    }

    private static func content(of segment: UnsafeRawBufferPointer?, after signature: StaticString) -> [UInt8]? {
        segment.map { Array($0.dropFirst(signature.utf8CodeUnitCount)) }
    }

    /// Returns a file that the encoder has written, with metadata.
    ///
    /// - Throws: `encodingFailed` if EXIF or XMP do not fit into a segment.
    static func bytes(_ file: [UInt8], with metadata: ImageMetadata) throws(EideticError) -> [UInt8] {
        var metadata = metadata
        metadata.exif = metadata.uprightExif
        // Behind the start of the image and the JFIF segment, which must be the first.
        let start = 4 + file.withUnsafeBytes { $0.bigEndian16(at: 4) ?? 0 }
        let segments = try segments(of: metadata)
        let added = Array(file[..<start] + segments + file[start...])
        return metadata.parts?.added(toJPEG: added, at: start + segments.count) ?? added
    }

    /// Returns the segments of metadata.
    ///
    /// - Throws: `encodingFailed` if EXIF or XMP do not fit into a segment.
    static func segments(of metadata: ImageMetadata) throws(EideticError) -> [UInt8] {
        var segments: [UInt8] = []
        if let exif = metadata.exif {
            segments += try segment(0xe1, content: bytes(of: exifSignature) + exif, name: "EXIF")
        }
        if let xmp = metadata.xmp {
            segments += try segment(0xe1, content: bytes(of: xmpSignature) + xmp, name: "XMP")
        }
        if let profile = metadata.iccProfile { segments += try profileSegments(profile) }
        return segments
    }

    static func fits(exif: [UInt8]?) -> Bool { fits(exif, after: exifSignature) }

    static func fits(xmp: [UInt8]?) -> Bool { fits(xmp, after: xmpSignature) }

    private static func fits(_ content: [UInt8]?, after signature: StaticString) -> Bool {
        content?.count ?? 0 <= maximumLength - signature.utf8CodeUnitCount
    }

    private static func profileSegments(_ profile: [UInt8]) throws(EideticError) -> [UInt8] {
        let length = maximumLength - profileSignature.utf8CodeUnitCount - 2
        let count = (profile.count + length - 1) / length
        guard count < 256 else { throw tooLarge(profile.count, name: "the ICC profile") }
        var segments: [UInt8] = []
        for index in 0..<count {
            let part = profile[(index * length)..<min(profile.count, (index + 1) * length)]
            let content = bytes(of: profileSignature) + [UInt8(index + 1), UInt8(count)] + part
            segments += try segment(0xe2, content: content, name: "the ICC profile")
        }
        return segments
    }

    private static func segment(_ marker: UInt8, content: [UInt8], name: String) throws(EideticError) -> [UInt8] {
        guard content.count <= maximumLength else { throw tooLarge(content.count, name: name) }
        let length = content.count + 2
        return [0xff, marker, UInt8(length >> 8), UInt8(length & 255)] + content
    }

    private static func tooLarge(_ count: Int, name: String) -> EideticError {
        let reason = "\(name) of \(count) bytes does not fit; encode without metadata or in another format"
        return EideticError(.encodingFailed, message: "JPEG: \(reason)")
    }

    private static func bytes(of text: StaticString) -> [UInt8] { text.withUTF8Buffer { Array($0) } }
}
