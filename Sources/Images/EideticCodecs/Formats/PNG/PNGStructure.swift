import EideticCore

/// The parsed chunks of a PNG and the position of its pixels.
struct PNGStructure {
    /// One frame of an animation.
    struct Frame {
        let area: FrameArea
        let duration: Duration
        let disposal: FrameDisposal
        let blends: Bool
        /// The compressed pixels: the contents of `IDAT`, or of `fdAT` without its sequence number.
        var data: [UnsafeRawBufferPointer] = []
    }

    private(set) var size = PixelSize(width: 0, height: 0)
    /// The number of bits per sample.
    private(set) var depth = 0
    /// The colour type: 0 grey, 2 RGB, 3 palette, 4 grey with alpha, 6 RGB with alpha.
    private(set) var colorType = 0
    private(set) var isInterlaced = false
    /// A Boolean value indicating whether the chunks, the compression and the filters allow the fast path.
    private(set) var isStandard = false
    /// R, G, B, A of the 256 palette indices; black for those without a colour.
    private(set) var paletteColours: [UInt8] = []
    private(set) var orientation = ImageOrientation.up
    private(set) var palette: UnsafeRawBufferPointer?
    private(set) var transparency: UnsafeRawBufferPointer?
    /// The chunks that state the meaning of the colours.
    private var colours = PNGColours()
    /// The compressed pixels of the default image.
    private(set) var data: [UnsafeRawBufferPointer] = []
    /// A Boolean value indicating whether all chunks before the pixels are complete.
    private(set) var hasHeader = false
    /// A Boolean value indicating whether the last chunk is complete.
    private(set) var isComplete = false
    /// A Boolean value indicating whether it is Apple's CgBI variant, which breaks the standard.
    private(set) var isCgBI = false
    private var animation = AnimationState()

    private var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The offset of the next chunk, and the number of those before.
    private var offset = 8
    private var chunkCount = 0

    /// Creates the structure of a file without bytes.
    init() {}

    /// Parses the chunks as far as the bytes reach.
    ///
    /// - Throws: `corrupt` if the first chunk is not a valid header; `limitExceeded` if there are too many chunks.
    init(_ bytes: UnsafeRawBufferPointer) throws(EideticError) { try update(bytes, isFileComplete: true) }

    /// Parses the chunks that have arrived since the call before, whose bytes may have moved.
    ///
    /// - Parameters:
    ///   - bytes: The bytes so far.
    ///   - isFileComplete: `true` to use an incomplete chunk of pixels as far as it reaches, in the last call.
    /// - Throws: The errors of ``init(_:)``.
    mutating func update(_ bytes: UnsafeRawBufferPointer, isFileComplete: Bool) throws(EideticError) {
        move(to: bytes)
        for chunk in PNGChunks(bytes, from: offset) {
            guard !isComplete else { return }
            try BlockCountLimit.check(chunkCount + 1, format: .png)
            let isPixelData = chunk.name == "IDAT" || chunk.name == "fdAT"
            if isPixelData, size.isPositive { hasHeader = true }
            if chunk.name == "fcTL" || chunk.name == "IEND" { animation.closeFrame() }
            guard chunk.isComplete || (isPixelData && isFileComplete) else { return }
            try read(chunk)
            chunkCount += 1
            offset = chunk.offset + 12 + chunk.content.count
        }
    }

    /// Lets everything that was parsed refer to the bytes at their present address.
    private mutating func move(to target: UnsafeRawBufferPointer) {
        defer { bytes = target }
        guard let old = bytes.baseAddress, let new = target.baseAddress, old != new else { return }
        palette = palette?.moved(from: old, to: new)
        transparency = transparency?.moved(from: old, to: new)
        colours.move(from: old, to: new)
        data = data.map { $0.moved(from: old, to: new) }
        animation.move(from: old, to: new)
    }

    /// The meaning of the colours; `nil` means sRGB.
    var colourSpace: ColourSpace? { colours.colourSpace }

    /// A Boolean value indicating whether a pixel can be transparent.
    var hasAlpha: Bool { colorType >= 4 || transparency != nil }

    /// The colour that is transparent in a grey or RGB image of 8 bits per channel.
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

    /// The frames of the animation, up to the first one that is invalid; empty if the image is still.
    var frames: [Frame] { animation.frames }

    /// The number of ``frames``.
    var frameCount: Int { animation.frameCount }

    /// The number of frames whose pixels are complete.
    var wholeFrameCount: Int { animation.wholeFrameCount }

    /// A Boolean value indicating whether the image is the only frame announced, and that is not the default image.
    var isOtherFrame: Bool { isComplete && animation.isOtherFrame }

    /// A Boolean value indicating whether the chunks so far announce an animation.
    var announcesFrames: Bool { animation.announcesFrames }

    /// A Boolean value indicating whether the chunks so far are those of an animation.
    var isAnimated: Bool { animation.announcesFrames && frameCount > 0 }

    /// Returns one of the ``frames``.
    func frame(at index: Int) -> Frame { animation.frame(at: index) }

    /// The number of times the frames play; `nil` means forever.
    var loopCount: Int? { animation.playCount == 0 ? nil : animation.playCount }

    /// The chunks of the standard and of its extensions that must not precede the header.
    private static let knownChunks: Set = [
        "acTL", "bKGD", "cHRM", "cICP", "cLLI", "eXIf", "fcTL", "fdAT", "gAMA", "hIST", "iCCP", "iTXt", "mDCV", "oFFs",
        "pCAL", "pHYs", "sBIT", "sCAL", "sPLT", "sRGB", "sTER", "tEXt", "tIME", "tRNS", "zTXt",
    ]

    private mutating func read(_ chunk: PNGChunks.Chunk) throws(EideticError) {
        guard size.isPositive || chunk.name == "IHDR" || chunk.name == "CgBI" else {
            // As in browsers, a chunk that a decoder need not understand is skipped.
            guard chunk.isAncillary, !Self.knownChunks.contains(chunk.name) else {
                throw EideticError(.corrupt, message: "PNG: begins with \(chunk.name) instead of IHDR")
            }
            return
        }
        updateIsStandard(with: chunk)
        switch chunk.name {
        case "IHDR" where !size.isPositive: try readHeader(chunk.content)
        case "CgBI": isCgBI = true
        case "PLTE" where palette == nil: palette = chunk.content; paletteColours = expandedPalette()
        case "tRNS" where transparency == nil && (palette != nil || colorType != 3):
            transparency = chunk.content; paletteColours = expandedPalette()
        // An animation does not turn while it plays.
        case "eXIf" where orientation == .up && (data.isEmpty || !announcesFrames) && chunk.hasValidChecksum:
            orientation = Exif.orientation(in: chunk.content)
        case "cICP" where palette != nil: break
        case "cICP", "iCCP", "sRGB", "gAMA", "cHRM", "mDCV", "cLLI":
            if data.isEmpty, chunk.hasValidChecksum { colours.read(chunk) }
        case "acTL": if data.isEmpty { animation.readAnimationControl(chunk.content) }
        case "fcTL": try animation.readFrameControl(chunk.content, isDefault: data.isEmpty, canvas: size)
        case "IDAT":
            data.append(chunk.content)
            animation.appendDefaultImageData(chunk.content)
        case "fdAT": animation.appendFrameData(chunk.content)
        case "IEND": isComplete = true
        default: break
        }
    }

    /// Excludes images from the fast path if they have chunks that libpng would refuse or interpret.
    private mutating func updateIsStandard(with chunk: PNGChunks.Chunk) {
        switch chunk.name {
        case "IHDR": isStandard = !size.isPositive && chunk.hasValidChecksum
        case "PLTE":
            let isRegular = chunk.hasValidChecksum && chunk.content.count % 3 == 0 && chunk.content.count <= 768
            if !isRegular || palette != nil || !data.isEmpty { isStandard = false }
        case "tRNS": if !chunk.hasValidChecksum { isStandard = false }
        case "IDAT", "IEND": break
        default:
            if !chunk.isAncillary { isStandard = false }
        }
    }

    private mutating func readHeader(_ content: UnsafeRawBufferPointer) throws(EideticError) {
        guard content.count == 13, let width = content.bigEndian32(at: 0), let height = content.bigEndian32(at: 4),
            width > 0, height > 0, width < 1 << 31, height < 1 << 31
        else { throw EideticError(.corrupt, message: "PNG: invalid header of \(content.count) bytes") }
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
}
