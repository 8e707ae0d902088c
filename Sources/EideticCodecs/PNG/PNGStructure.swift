import EideticCore

/// What the chunks of a PNG say, and where its pixels are.
struct PNGStructure {
    /// One frame of an animation.
    struct Frame {
        let area: FrameArea
        let duration: Duration
        let disposal: FrameDisposal
        let blends: Bool
        /// The compressed pixels: contents of `IDAT`, and of `fdAT` without its sequence number.
        var data: [UnsafeRawBufferPointer] = []
    }

    private(set) var size = PixelSize(width: 0, height: 0)
    /// Bits per sample.
    private(set) var depth = 0
    /// 0 grey, 2 RGB, 3 palette, 4 grey with alpha, 6 RGB with alpha.
    private(set) var colorType = 0
    private(set) var isInterlaced = false
    private(set) var orientation = ImageOrientation.up
    private(set) var palette: UnsafeRawBufferPointer?
    private(set) var transparency: UnsafeRawBufferPointer?
    /// The compressed colour profile, from behind its name; `nil` where the picture says it is sRGB.
    private(set) var compressedProfile: UnsafeRawBufferPointer?
    /// The compressed pixels of the default image.
    private(set) var data: [UnsafeRawBufferPointer] = []
    /// Whether all chunks up to the first pixels are there.
    private(set) var hasHeader = false
    /// Whether the last chunk is there.
    private(set) var isComplete = false
    /// Whether it is one of Apple's, which break the standard.
    private(set) var isApple = false
    private var animation = AnimationState()
    private var hasSRGB = false

    /// Reads as far as the bytes go.
    ///
    /// - Throws: `corrupt` where the first chunk is not a proper header.
    init(_ bytes: UnsafeRawBufferPointer) throws(EideticError) {
        for chunk in PNGChunks(bytes) {
            let isPixelData = chunk.name == "IDAT" || chunk.name == "fdAT"
            if isPixelData, size.isPositive { hasHeader = true }
            guard chunk.isComplete || isPixelData else { return }
            try read(chunk)
            if isComplete { return }
        }
    }

    /// Whether some pixel may be transparent.
    var hasAlpha: Bool { colorType >= 4 || transparency != nil }

    /// The frames of the animation; empty where the picture is a still one, or its animation breaks the rules.
    ///
    /// Viewers show the default image of a PNG whose animation is broken.
    var frames: [Frame] { animation.frames(isComplete: isComplete, canvas: size) }

    /// How often the frames play; `nil` for ever.
    var loopCount: Int? { animation.plays == 0 ? nil : animation.plays }

    private mutating func read(_ chunk: PNGChunks.Chunk) throws(EideticError) {
        guard size.isPositive || chunk.name == "IHDR" || chunk.name == "CgBI" else {
            throw EideticError(.corrupt, "PNG: begins with \(chunk.name) instead of IHDR")
        }
        switch chunk.name {
        case "IHDR" where !size.isPositive: try readHeader(chunk.content)
        case "CgBI": isApple = true
        case "PLTE": palette = chunk.content
        case "tRNS" where palette != nil || colorType != 3: transparency = chunk.content
        case "eXIf" where orientation == .up: orientation = Exif.orientation(chunk.content)
        case "sRGB": hasSRGB = true; compressedProfile = nil
        case "iCCP" where !hasSRGB && data.isEmpty: compressedProfile = Self.profile(chunk.content)
        case "acTL": if data.isEmpty { animation.begin(chunk.content) }
        case "fcTL": animation.beginFrame(chunk.content, isDefault: data.isEmpty)
        case "IDAT":
            data.append(chunk.content)
            animation.addDefault(chunk.content)
        case "fdAT": animation.add(chunk.content)
        case "IEND": isComplete = true
        default: break
        }
    }

    private mutating func readHeader(_ content: UnsafeRawBufferPointer) throws(EideticError) {
        guard content.count == 13, let width = content.big32(0), let height = content.big32(4),
            width > 0, height > 0, width < 1 << 31, height < 1 << 31
        else { throw EideticError(.corrupt, "PNG: header of \(content.count) bytes, or without a size") }
        size = PixelSize(width: width, height: height)
        depth = Int(content[8])
        colorType = Int(content[9])
        isInterlaced = content[12] != 0
    }

    /// What follows the profile's name, its terminator and the method.
    private static func profile(_ content: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard let end = content.prefix(80).firstIndex(of: 0), content.uint8(end + 1) == 0 else { return nil }
        return content.slice(end + 2, content.count - end - 2)
    }
}
