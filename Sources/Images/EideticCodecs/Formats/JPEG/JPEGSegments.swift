import EideticCore

/// The marker segments of a JPEG up to its first scan.
///
/// - SeeAlso: ITU-T T.81, annex B; ICC.1:2010, annex B.4.
struct JPEGSegments {
    /// The width and height as stored.
    private(set) var size: PixelSize?
    /// The orientation of the stored pixels.
    private(set) var orientation = ImageOrientation.up
    /// A Boolean value indicating whether the bytes reach the first scan.
    private(set) var isHeaderComplete = false
    /// The chunks of the colour profile by number, and their announced count.
    private var profileParts: [Int: UnsafeRawBufferPointer] = [:]
    private var profilePartCount = 0
    /// A Boolean value indicating whether a chunk before the last one comes again, is beyond the count, or announces
    /// another one.
    private var isProfileInvalid = false
    /// The first segment of EXIF, and the first one of XMP.
    private(set) var exif: UnsafeRawBufferPointer?, xmp: UnsafeRawBufferPointer?
    /// A Boolean value indicating whether the pixels are coded by the lossless process, which predicts instead of
    /// transforming.
    private(set) var isLossless = false
    private var isProgressive = false
    private var componentCount = 0
    private var componentsInScan = 0

    /// Parses the segments as far as the bytes reach.
    ///
    /// - Throws: `corrupt` if the segments are invalid.
    init(_ bytes: UnsafeRawBufferPointer) throws(EideticError) {
        for marker in JPEGMarkers(bytes) {
            let offset = marker.range.lowerBound + 2
            switch marker.number {
            case 0xd9:
                throw EideticError(.corrupt, message: "JPEG: the file ends at byte \(offset), before the first scan")
            case 0xda:
                isHeaderComplete = true
                componentsInScan = bytes.uint8(at: offset + 2) ?? 0
            default:
                if let body = marker.content { try read(marker: marker.number, body: body, at: offset) }
            }
        }
    }

    /// The embedded colour profile; `nil` if there is none, a chunk is missing, or the chunks contradict each other, as
    /// in browsers.
    var iccProfile: [UInt8]? {
        guard profilePartCount > 0, !isProfileInvalid else { return nil }
        var profile: [UInt8] = []
        for index in 1...profilePartCount {
            guard let part = profileParts[index] else { return nil }
            profile.append(contentsOf: part)
        }
        return profile
    }

    /// The maximum number of coefficients per pixel in memory until the last scan; 0 for an image with one scan.
    var coefficientsPerPixel: Int { isProgressive || componentsInScan < componentCount ? componentCount : 0 }

    private mutating func read(marker: UInt8, body: UnsafeRawBufferPointer, at offset: Int) throws(EideticError) {
        switch marker {
        case 0xc0...0xc3, 0xc5...0xc7, 0xc9...0xcb, 0xcd...0xcf:
            try readFrameHeader(body, at: offset)
            isProgressive = marker & 3 == 2
            isLossless = marker == 0xc3
        case 0xe1 where xmp == nil && body.contains(JPEGMetadata.xmpSignature): xmp = body
        // As in browsers, the last byte of the signature can have any value.
        case 0xe1 where exif == nil && body.contains("Exif\0") && body.count >= 6:
            exif = body
            orientation = Exif.orientation(in: UnsafeRawBufferPointer(rebasing: body[6...]))
        case 0xe2 where body.contains("ICC_PROFILE\0"): readProfile(body)
        default: break
        }
    }

    private mutating func readFrameHeader(_ body: UnsafeRawBufferPointer, at offset: Int) throws(EideticError) {
        guard size == nil else { throw EideticError(.corrupt, message: "JPEG: second frame header at byte \(offset)") }
        guard let height = body.bigEndian16(at: 1), let width = body.bigEndian16(at: 3) else {
            throw EideticError(
                .corrupt,
                message: "JPEG: incomplete frame header of \(body.count) bytes at byte \(offset)"
            )
        }
        guard width > 0, height > 0 else {
            throw EideticError(.corrupt, message: "JPEG: invalid size \(width)x\(height) at byte \(offset)")
        }
        size = PixelSize(width: width, height: height)
        componentCount = body.uint8(at: 5) ?? 0
    }

    private mutating func readProfile(_ body: UnsafeRawBufferPointer) {
        guard let number = body.uint8(at: 12), let count = body.uint8(at: 13),
            let part = body.slice(at: 14, count: body.count - 14)
        else { return }
        // What follows a complete profile does not count.
        guard profilePartCount == 0 || profileParts.count < profilePartCount else { return }
        let isOtherCount = profilePartCount > 0 && profilePartCount != count
        if number == 0 || number > count || isOtherCount || profileParts[number] != nil { isProfileInvalid = true }
        profilePartCount = count
        profileParts[number] = part
    }
}
