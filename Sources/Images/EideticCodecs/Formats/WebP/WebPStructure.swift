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
        /// The chunks of the frame's image, as libwebp decodes them.
        var image: UnsafeRawBufferPointer
    }

    private(set) var size = PixelSize(width: 0, height: 0)
    private(set) var hasAlpha = false
    private(set) var isLossless = false
    private var hasAlphaChunk = false
    private(set) var orientation = ImageOrientation.up
    private(set) var iccProfile: [UInt8]?
    var colourSpace: ColourSpace? { iccProfile.map(ColourSpace.profile) }
    private(set) var isAnimated = false
    private(set) var loopCount: Int? = 1
    private(set) var frames: [Frame] = []
    /// A Boolean value indicating whether the size and everything else in the header is known.
    private(set) var hasHeader = false
    /// A Boolean value indicating whether the bytes reach the declared end of the file.
    private(set) var isComplete = false
    private var expectsExif = false
    private var expectsProfile = false
    private var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The offset of the next chunk, and the number of those before.
    private var offset = 12
    private var chunkCount = 0

    /// A Boolean value indicating whether libwebp may decode alpha that the header does not declare: from a lossless
    /// image or a stray chunk.
    var mayContainUndeclaredAlpha: Bool { isLossless || hasAlphaChunk }

    /// Creates the structure of a file without bytes.
    init() {}

    /// Parses the chunks as far as the bytes reach.
    ///
    /// - Throws: `corrupt` if the chunks are invalid; `limitExceeded` if there are too many.
    init(_ bytes: UnsafeRawBufferPointer) throws(EideticError) { try update(bytes) }

    /// Parses the chunks that have arrived since the call before, whose bytes may have moved.
    mutating func update(_ bytes: UnsafeRawBufferPointer) throws(EideticError) {
        move(to: bytes)
        guard let declaredSize = bytes.littleEndian32(at: 4) else { return }
        isComplete = bytes.count - 8 >= declaredSize
        let end = min(bytes.count, 8 + declaredSize)
        while try readChunk(before: end) {}
        // The orientation of an animation is known with its first frame, behind which its EXIF stands by the standard.
        let isOriented = !expectsExif || isAnimated || isComplete
        hasHeader = size.isPositive && isOriented && (!isAnimated || !frames.isEmpty || isComplete)
    }

    /// Lets everything that was parsed refer to the bytes at their present address.
    private mutating func move(to target: UnsafeRawBufferPointer) {
        defer { bytes = target }
        guard let old = bytes.baseAddress, let new = target.baseAddress, old != new else { return }
        for index in frames.indices { frames[index].image = frames[index].image.moved(from: old, to: new) }
    }

    /// Parses the next chunk; an incomplete one is parsed again when it is complete.
    ///
    /// - Returns: `false` if bytes are missing.
    private mutating func readChunk(before end: Int) throws(EideticError) -> Bool {
        guard let length = bytes.littleEndian32(at: offset + 4), offset + 8 <= end else { return false }
        try BlockCountLimit.check(chunkCount + 1, format: .webp)
        let isChunkComplete = length <= end - offset - 8
        guard let name = bytes.slice(at: offset, count: 4),
            let body = bytes.slice(at: offset + 8, count: min(length, end - offset - 8))
        else { return false }
        let text = String(decoding: name, as: UTF8.self)
        try read(chunk: text, body: body, isChunkComplete: isChunkComplete, at: offset, in: bytes)
        guard isChunkComplete else { return false }
        chunkCount += 1
        offset += 8 + length + length % 2
        return true
    }

    private mutating func read(
        chunk name: String,
        body: UnsafeRawBufferPointer,
        isChunkComplete: Bool,
        at offset: Int,
        in bytes: UnsafeRawBufferPointer
    ) throws(EideticError) {
        switch name {
        case "VP8X" where offset == 12: readExtendedHeader(body)
        case "ALPH": hasAlphaChunk = true
        case "VP8 ", "VP8L": try readBitstreamHeader(in: bytes, at: offset)
        case "ANIM" where isChunkComplete:
            guard let loops = body.littleEndian16(at: 4) else { break }
            loopCount = loops == 0 ? nil : loops
        case "ANMF" where isAnimated && isChunkComplete: try readFrame(body, at: offset)
        // As in browsers, one that the header does not announce does not count.
        case "ICCP" where isChunkComplete && expectsProfile && iccProfile == nil: iccProfile = Array(body)
        case "EXIF" where isChunkComplete:
            if !isAnimated || frames.isEmpty { orientation = Exif.orientation(in: body) }
            expectsExif = false
        default: break
        }
    }

    private mutating func readExtendedHeader(_ body: UnsafeRawBufferPointer) {
        guard let flags = body.uint8(at: 0), let width = body.littleEndian24(at: 4),
            let height = body.littleEndian24(at: 7)
        else { return }
        size = PixelSize(width: width + 1, height: height + 1)
        hasAlpha = flags & 0x10 != 0
        expectsExif = flags & 0x08 != 0
        expectsProfile = flags & 0x20 != 0
        isAnimated = flags & 0x02 != 0
    }

    /// Reads the header of a still image's bitstream, which must match the header of the file.
    private mutating func readBitstreamHeader(in bytes: UnsafeRawBufferPointer, at offset: Int) throws(EideticError) {
        guard !isAnimated, let chunk = bytes.slice(at: offset, count: bytes.count - offset) else { return }
        guard let features = try Self.features(of: chunk) else { return }
        let bitstreamSize = PixelSize(width: Int(features.width), height: Int(features.height))
        guard !size.isPositive || size == bitstreamSize else {
            throw EideticError(
                .corrupt,
                message: "WebP: a canvas of \(size) contains an image of \(bitstreamSize), at byte \(offset)"
            )
        }
        size = bitstreamSize
        hasAlpha = hasAlpha || features.has_alpha != 0
        isLossless = isLossless || features.format == 2
    }

    private mutating func readFrame(_ body: UnsafeRawBufferPointer, at offset: Int) throws(EideticError) {
        guard let x = body.littleEndian24(at: 0), let y = body.littleEndian24(at: 3),
            let width = body.littleEndian24(at: 6),
            let height = body.littleEndian24(at: 9), let milliseconds = body.littleEndian24(at: 12),
            let flags = body.uint8(at: 15),
            let image = body.slice(at: 16, count: body.count - 16)
        else {
            throw EideticError(
                .corrupt,
                message: "WebP: incomplete frame header of \(body.count) bytes at byte \(offset)"
            )
        }
        let area = FrameArea(x: 2 * x, y: 2 * y, size: PixelSize(width: width + 1, height: height + 1))
        guard area.isContained(in: size) else {
            throw EideticError(
                .corrupt,
                message: "WebP: frame \(frames.count + 1) lies outside the canvas, at byte \(offset)"
            )
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
        try FrameCountLimit.check(frames.count, format: .webp)
    }

    /// Returns the features in the header of a bitstream; `nil` if more bytes are needed.
    static func features(of chunks: UnsafeRawBufferPointer) throws(EideticError) -> WebPBitstreamFeatures? {
        var features = WebPBitstreamFeatures()
        let base = chunks.assumingMemoryBound(to: UInt8.self).baseAddress
        switch WebPGetFeatures(base, chunks.count, &features) {
        case VP8_STATUS_OK: return features
        case VP8_STATUS_NOT_ENOUGH_DATA: return nil
        default: throw EideticError(.corrupt, message: "WebP: the image's header is corrupt")
        }
    }
}
