import CWebP
import EideticCore

/// The chunks of a WebP file.
///
/// - SeeAlso: RFC 9649, section 2.
struct WebPStructure {
    /// One frame of an animation.
    struct Frame {
        let area: FrameArea
        let duration: Duration
        let clears: Bool
        let blends: Bool
        /// The chunks of the frame's picture, as the library takes them.
        let image: UnsafeRawBufferPointer
    }

    private(set) var size = PixelSize(width: 0, height: 0)
    private(set) var hasAlpha = false
    /// Whether the still picture is coded without loss.
    private(set) var isLossless = false
    private var hasAlphaChunk = false
    private(set) var orientation = ImageOrientation.up
    private(set) var iccProfile: [UInt8]?
    private(set) var isAnimated = false
    private(set) var loopCount: Int? = 1
    private(set) var frames: [Frame] = []
    /// Whether the picture's size and all that the header announces is known.
    private(set) var hasHeader = false
    /// Whether as many bytes are there as the file announces.
    let isComplete: Bool
    private var expectsExif = false

    /// Whether the library may give alpha though the header says that there is none: without loss, or from a stray chunk.
    var mayHideAlpha: Bool { isLossless || hasAlphaChunk }

    /// Reads as far as the bytes go.
    ///
    /// - Throws: `corrupt` where the chunks break the rules.
    init(_ bytes: UnsafeRawBufferPointer) throws(EideticError) {
        guard let announced = bytes.little32(4) else { isComplete = false; return }
        isComplete = bytes.count - 8 >= announced
        let end = min(bytes.count, 8 + announced)
        var offset = 12
        while let length = bytes.little32(offset + 4), offset + 8 <= end {
            let isWhole = length <= end - offset - 8
            guard let name = bytes.slice(offset, 4), let body = bytes.slice(offset + 8, min(length, end - offset - 8))
            else { break }
            try read(String(decoding: name, as: UTF8.self), body, isWhole: isWhole, from: offset, in: bytes)
            guard isWhole else { break }
            offset += 8 + length + length % 2
        }
        hasHeader = size.isPositive && (!expectsExif || isComplete) && (!isAnimated || !frames.isEmpty || isComplete)
    }

    private mutating func read(
        _ name: String,
        _ body: UnsafeRawBufferPointer,
        isWhole: Bool,
        from offset: Int,
        in bytes: UnsafeRawBufferPointer
    ) throws(EideticError) {
        switch name {
        case "VP8X" where offset == 12: readExtended(body)
        case "ALPH": hasAlphaChunk = true
        case "VP8 ", "VP8L": try readSimple(bytes, offset)
        case "ANIM" where isWhole:
            guard let loops = body.little16(4) else { break }
            loopCount = loops == 0 ? nil : loops
        case "ANMF" where isAnimated && isWhole: try readFrame(body, at: offset)
        case "ICCP" where isWhole && iccProfile == nil: iccProfile = Array(body)
        case "EXIF" where isWhole:
            orientation = Exif.orientation(body)
            expectsExif = false
        default: break
        }
    }

    private mutating func readExtended(_ body: UnsafeRawBufferPointer) {
        guard let flags = body.uint8(0), let width = body.little24(4), let height = body.little24(7) else { return }
        size = PixelSize(width: width + 1, height: height + 1)
        hasAlpha = flags & 0x10 != 0
        expectsExif = flags & 0x08 != 0
        isAnimated = flags & 0x02 != 0
    }

    /// A still picture's own header, which must agree with the file's.
    private mutating func readSimple(_ bytes: UnsafeRawBufferPointer, _ offset: Int) throws(EideticError) {
        guard !isAnimated, let chunk = bytes.slice(offset, bytes.count - offset) else { return }
        guard let features = try Self.features(chunk) else { return }
        let own = PixelSize(width: Int(features.width), height: Int(features.height))
        guard !size.isPositive || size == own else {
            throw EideticError(.corrupt, "WebP: a canvas of \(size) holds a picture of \(own), at byte \(offset)")
        }
        size = own
        hasAlpha = hasAlpha || features.has_alpha != 0
        isLossless = isLossless || features.format == 2
    }

    private mutating func readFrame(_ body: UnsafeRawBufferPointer, at offset: Int) throws(EideticError) {
        guard let x = body.little24(0), let y = body.little24(3), let width = body.little24(6),
            let height = body.little24(9), let milliseconds = body.little24(12), let flags = body.uint8(15),
            let image = body.slice(16, body.count - 16)
        else { throw EideticError(.corrupt, "WebP: frame of \(body.count) bytes at byte \(offset)") }
        let area = FrameArea(x: 2 * x, y: 2 * y, size: PixelSize(width: width + 1, height: height + 1))
        guard area.lies(within: size) else {
            throw EideticError(.corrupt, "WebP: frame \(frames.count + 1) lies outside the canvas, at byte \(offset)")
        }
        frames.append(
            Frame(
                area: area,
                duration: .milliseconds(milliseconds),
                clears: flags & 1 != 0,
                blends: flags & 2 == 0,
                image: image
            )
        )
        try FrameCount.check(frames.count, .webp)
    }

    /// What the picture in these chunks says of itself; `nil` where more bytes are needed.
    static func features(_ chunks: UnsafeRawBufferPointer) throws(EideticError) -> WebPBitstreamFeatures? {
        var features = WebPBitstreamFeatures()
        let base = chunks.assumingMemoryBound(to: UInt8.self).baseAddress
        switch WebPGetFeatures(base, chunks.count, &features) {
        case VP8_STATUS_OK: return features
        case VP8_STATUS_NOT_ENOUGH_DATA: return nil
        default: throw EideticError(.corrupt, "WebP: the picture's own header is broken")
        }
    }
}
