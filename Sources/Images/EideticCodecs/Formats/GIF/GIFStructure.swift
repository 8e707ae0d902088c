import EideticCore

/// The blocks of a GIF file, parsed without decompression.
///
/// - SeeAlso: GIF 89a, appendix A; the Netscape 2.0 application block.
struct GIFStructure {
    struct Frame {
        var area: FrameArea
        var duration: Duration
        var disposal: FrameDisposal
        var transparentIndex: Int?
        var isInterlaced: Bool
        /// Red, green and blue of each colour; `nil` if the file has no colour table.
        var palette: UnsafeRawBufferPointer?
        /// The number of bits of a pixel's code.
        var codeSize: Int
        /// The compressed pixels in their sub-blocks, as far as the bytes reach.
        var data: UnsafeRawBufferPointer
        var offset: Int
        /// A Boolean value indicating whether the canvas has one pixel.
        var isOnlyPixel: Bool
    }

    /// The graphic control block before a frame.
    private struct Control {
        var duration = Duration.zero
        var disposal = FrameDisposal.leaveInPlace
        var transparentIndex: Int?
    }

    private(set) var size = PixelSize(width: 0, height: 0)
    private(set) var loopCount: Int? = 1
    /// The frames whose pixels have begun.
    private(set) var frames: [Frame] = []
    /// A Boolean value indicating whether the bytes reach the trailer, or an invalid block behind a frame, which counts
    /// as a trailer.
    private(set) var isComplete = false
    /// The number of frames whose pixels are complete.
    private(set) var wholeFrameCount = 0
    private var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The offset of the next block, or of the next sub-block of the open one.
    private var offset = 0
    private var openBlock: OpenBlock?
    private var blockCount = 0
    private var globalPalette: UnsafeRawBufferPointer?
    private var control = Control()
    private var hasTransparentFrame = false
    /// A Boolean value indicating whether no bytes follow.
    private var isAtEnd = false

    /// A block whose sub-blocks have not all been parsed.
    private enum OpenBlock {
        /// An extension, by the offset of its label.
        case labelled(at: Int)
        /// The pixels of the last frame, by their offset.
        case pixels(at: Int)
    }

    /// Creates the structure of a file without bytes.
    init() {}

    /// Parses the blocks as far as the bytes reach.
    ///
    /// A canvas of one pixel whose file ends behind the header of its frame has that frame: many pages use it as a
    /// placeholder.
    init(_ bytes: UnsafeRawBufferPointer, isWhole: Bool = true) throws(EideticError) {
        try update(bytes)
        guard isWhole, frames.isEmpty else { return }
        isAtEnd = true
        try update(bytes)
    }

    /// Parses the blocks that have arrived since the call before, whose bytes may have moved.
    mutating func update(_ bytes: UnsafeRawBufferPointer) throws(EideticError) {
        move(to: bytes)
        if offset == 0 { readHeader() }
        guard offset > 0 else { return }
        while !isComplete, try readBlock() {}
        extendLastFrame()
    }

    /// A Boolean value indicating whether a pixel can remain transparent.
    var hasAlpha: Bool {
        frames.first.map { $0.area != FrameArea(canvas: size) } ?? false || hasTransparentFrame
    }

    /// Lets everything that was parsed refer to the bytes at their present address.
    private mutating func move(to target: UnsafeRawBufferPointer) {
        defer { bytes = target }
        guard let old = bytes.baseAddress, let new = target.baseAddress, old != new else { return }
        globalPalette = globalPalette?.moved(from: old, to: new)
        for index in frames.indices {
            frames[index].palette = frames[index].palette?.moved(from: old, to: new)
            frames[index].data = frames[index].data.moved(from: old, to: new)
        }
    }

    private mutating func readHeader() {
        guard let width = bytes.littleEndian16(at: 6), let height = bytes.littleEndian16(at: 8),
            let flags = bytes.uint8(at: 10)
        else { return }
        size = PixelSize(width: width, height: height)
        offset = 13
        var palette: UnsafeRawBufferPointer?
        if readPalette(flags: flags, into: &palette) { globalPalette = palette } else { offset = 0 }
    }

    /// Parses a block or the rest of one.
    ///
    /// - Returns: `false` if bytes are missing.
    private mutating func readBlock() throws(EideticError) -> Bool {
        guard openBlock == nil else { return closeBlock() }
        let start = offset
        guard let block = bytes.uint8(at: offset) else { return false }
        try BlockCountLimit.check(blockCount + 1, format: .gif)
        offset += 1
        guard try beginBlock(block) else {
            offset = start
            return false
        }
        blockCount += 1
        return true
    }

    /// Parses the part of a block that must be there as a whole.
    ///
    /// - Returns: `false` if bytes are missing.
    private mutating func beginBlock(_ block: Int) throws(EideticError) -> Bool {
        switch block {
        case 0x21:
            guard offset < bytes.count else { return false }
            openBlock = .labelled(at: offset)
            offset += 1
        case 0x2c: return try readFrame()
        case 0x3b: isComplete = true
        default: try handleUnknownBlock(block)
        }
        return true
    }

    /// Skips the sub-blocks of the open block, and uses what they contain.
    ///
    /// - Returns: `false` if bytes are missing.
    private mutating func closeBlock() -> Bool {
        guard skipSubBlocks() else { return false }
        extendLastFrame()
        switch openBlock {
        case .labelled(let start): readExtension(at: start)
        case .pixels: wholeFrameCount += 1
        case nil: break
        }
        openBlock = nil
        return true
    }

    /// Extends the last frame by the pixels that have arrived since.
    private mutating func extendLastFrame() {
        guard case .pixels(let start) = openBlock, !frames.isEmpty else { return }
        let end = min(offset, bytes.count)
        frames[frames.count - 1].data = bytes.slice(at: start, count: end - start) ?? frames[frames.count - 1].data
    }

    /// Ends the file at an invalid block behind a frame; throws if there is no frame.
    private mutating func handleUnknownBlock(_ block: Int) throws(EideticError) {
        guard frames.isEmpty else { isComplete = true; return }
        throw EideticError(.corrupt, message: "GIF: unknown block \(block) at byte \(offset - 1)")
    }

    private mutating func readPalette(flags: Int, into palette: inout UnsafeRawBufferPointer?) -> Bool {
        guard flags & 0x80 != 0 else { return true }
        let length = 3 << (flags & 7 + 1)
        guard let table = bytes.slice(at: offset, count: length) else { return false }
        palette = table
        offset += length
        return true
    }

    private mutating func readExtension(at start: Int) {
        switch bytes.uint8(at: start) {
        case 0xf9: readControl(at: start + 1)
        case 0xff: readApplication(at: start + 1)
        default: break
        }
    }

    private mutating func readControl(at offset: Int) {
        guard let length = bytes.uint8(at: offset), length >= 4, let flags = bytes.uint8(at: offset + 1),
            let hundredths = bytes.littleEndian16(at: offset + 2), let index = bytes.uint8(at: offset + 4)
        else { return }
        control.duration = .milliseconds(10 * hundredths)
        control.transparentIndex = flags & 1 != 0 ? index : nil
        switch flags >> 2 & 7 {
        case 2: control.disposal = .clear
        // As in browsers, 4 means 3.
        case 3, 4: control.disposal = .restorePrevious
        default: control.disposal = .leaveInPlace
        }
    }

    private mutating func readApplication(at offset: Int) {
        guard bytes.contains("\u{b}NETSCAPE2.0", at: offset) || bytes.contains("\u{b}ANIMEXTS1.0", at: offset),
            let length = bytes.uint8(at: offset + 12), length >= 3, bytes.uint8(at: offset + 13) == 1,
            let repeats = bytes.littleEndian16(at: offset + 14)
        else { return }
        // The block has the number of repetitions after the first pass, as browsers count.
        loopCount = repeats == 0 ? nil : repeats + 1
    }

    /// Parses the header of a frame, whose pixels follow.
    ///
    /// - Returns: `false` if bytes are missing.
    private mutating func readFrame() throws(EideticError) -> Bool {
        let start = offset - 1
        guard let x = bytes.littleEndian16(at: offset), let y = bytes.littleEndian16(at: offset + 2),
            let width = bytes.littleEndian16(at: offset + 4),
            let height = bytes.littleEndian16(at: offset + 6), let flags = bytes.uint8(at: offset + 8)
        else { return false }
        offset += 9
        var palette = globalPalette
        guard readPalette(flags: flags, into: &palette) else { return false }
        let isOnlyPixel = max(size.width, x + width) == 1 && max(size.height, y + height) == 1
        guard let codeSize = bytes.uint8(at: offset) ?? (isAtEnd && isOnlyPixel ? 2 : nil) else { return false }
        offset += 1
        if frames.isEmpty { try extendSize(right: x + width, bottom: y + height) }
        openBlock = .pixels(at: offset)
        append(
            Frame(
                area: FrameArea(x: x, y: y, size: PixelSize(width: width, height: height)),
                duration: control.duration,
                disposal: control.disposal,
                transparentIndex: control.transparentIndex,
                isInterlaced: flags & 0x40 != 0,
                palette: palette,
                codeSize: codeSize,
                data: UnsafeRawBufferPointer(start: nil, count: 0),
                offset: start,
                isOnlyPixel: isOnlyPixel
            )
        )
        try FrameCountLimit.check(frames.count, format: .gif)
        return true
    }

    private mutating func append(_ frame: Frame) {
        frames.append(frame)
        control = Control()
        hasTransparentFrame =
            hasTransparentFrame || frame.transparentIndex != nil || frame.disposal != .leaveInPlace
    }

    /// Extends the canvas to the first frame, as browsers do.
    private mutating func extendSize(right: Int, bottom: Int) throws(EideticError) {
        size.width = max(size.width, right)
        size.height = max(size.height, bottom)
        guard size.isPositive else { throw EideticError(.corrupt, message: "GIF: invalid canvas size \(size)") }
    }

    private mutating func skipSubBlocks() -> Bool {
        while let length = bytes.uint8(at: offset) {
            offset += 1 + length
            if length == 0 { return true }
        }
        return false
    }
}
