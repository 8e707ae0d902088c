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
    /// Whether there is nothing about the chunks, the compression or the filters that only libpng knows how to take.
    private(set) var isStandard = false
    /// R, G, B, A of the 256 colour numbers; black for those without a colour.
    private(set) var paletteColours: [UInt8] = []
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
    private(set) var isCgBI = false
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

    /// The one colour of a picture of 8 bits a channel, grey or RGB, that is transparent.
    var transparentColour: SIMD3<UInt8>? {
        guard let transparency else { return nil }
        func channel(_ index: Int) -> UInt8? {
            transparency.bigEndian16(at: 2 * index).map(UInt8.init(truncatingIfNeeded:))
        }
        switch colorType {
        case 0: return channel(0).map { SIMD3($0, $0, $0) }
        case 2: return channel(0).flatMap { r in channel(1).flatMap { g in channel(2).map { SIMD3(r, g, $0) } } }
        default: return nil
        }
    }

    /// The frames of the animation; empty where the picture is a still one, or its animation breaks the rules.
    ///
    /// Viewers show the default image of a PNG whose animation is broken.
    var frames: [Frame] { animation.frames(isComplete: isComplete, canvas: size) }

    /// How often the frames play; `nil` for ever.
    var loopCount: Int? { animation.playCount == 0 ? nil : animation.playCount }

    private mutating func read(_ chunk: PNGChunks.Chunk) throws(EideticError) {
        guard size.isPositive || chunk.name == "IHDR" || chunk.name == "CgBI" else {
            throw EideticError(.corrupt, message: "PNG: begins with \(chunk.name) instead of IHDR")
        }
        updateIsStandard(with: chunk)
        switch chunk.name {
        case "IHDR" where !size.isPositive: try readHeader(chunk.content)
        case "CgBI": isCgBI = true
        case "PLTE" where palette == nil: palette = chunk.content; paletteColours = expandedPalette()
        case "tRNS" where palette != nil || colorType != 3:
            transparency = chunk.content; paletteColours = expandedPalette()
        case "eXIf" where orientation == .up: orientation = Exif.orientation(in: chunk.content)
        case "sRGB": hasSRGB = true; compressedProfile = nil
        case "iCCP" where !hasSRGB && data.isEmpty: compressedProfile = Self.compressedProfile(in: chunk.content)
        case "acTL": if data.isEmpty { animation.readAnimationControl(chunk.content) }
        case "fcTL": try animation.readFrameControl(chunk.content, isDefault: data.isEmpty)
        case "IDAT":
            data.append(chunk.content)
            animation.appendDefaultImageData(chunk.content)
        case "fdAT": animation.appendFrameData(chunk.content)
        case "IEND": isComplete = true
        default: break
        }
    }

    /// Chunks that libpng would refuse, or read in its own way, make the picture an unusual one.
    private mutating func updateIsStandard(with chunk: PNGChunks.Chunk) {
        switch chunk.name {
        case "IHDR": isStandard = !size.isPositive && chunk.hasValidChecksum
        case "PLTE":
            let isRegular = chunk.hasValidChecksum && chunk.content.count % 3 == 0 && chunk.content.count <= 768
            if !isRegular || palette != nil || !data.isEmpty { isStandard = false }
        case "tRNS": if !chunk.hasValidChecksum { isStandard = false }
        case "IDAT", "IEND": break
        default:
            // A capital letter: whoever does not know the chunk must not show the picture.
            if chunk.name.utf8.first.map({ $0 & 0x20 == 0 }) ?? true { isStandard = false }
        }
    }

    private mutating func readHeader(_ content: UnsafeRawBufferPointer) throws(EideticError) {
        guard content.count == 13, let width = content.bigEndian32(at: 0), let height = content.bigEndian32(at: 4),
            width > 0, height > 0, width < 1 << 31, height < 1 << 31
        else { throw EideticError(.corrupt, message: "PNG: header of \(content.count) bytes, or without a size") }
        size = PixelSize(width: width, height: height)
        depth = Int(content[8])
        colorType = Int(content[9])
        isStandard = isStandard && content[10] == 0 && content[11] == 0
        isInterlaced = content[12] != 0
    }

    private func expandedPalette() -> [UInt8] {
        guard let palette, colorType == 3 else { return [] }
        var colours = [UInt8](repeating: 0, count: 1_024)
        for index in 0..<256 {
            for channel in 0..<3 {
                colours[4 * index + channel] = palette.uint8(at: 3 * index + channel).map(UInt8.init) ?? 0
            }
            colours[4 * index + 3] = transparency?.uint8(at: index).map(UInt8.init) ?? 255
        }
        return colours
    }

    /// What follows the profile's name, its terminator and the method.
    private static func compressedProfile(in content: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard let end = content.prefix(80).firstIndex(of: 0), content.uint8(at: end + 1) == 0 else { return nil }
        return content.slice(at: end + 2, count: content.count - end - 2)
    }
}
