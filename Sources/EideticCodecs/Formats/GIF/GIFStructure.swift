import EideticCore

/// The blocks of a GIF file, parsed without decompression.
///
/// - SeeAlso: GIF 89a, appendix A; the Netscape 2.0 application block.
struct GIFStructure {
    /// One frame.
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
        /// The offset of the frame.
        var offset: Int

        /// A Boolean value indicating whether a pixel can have an index beyond the colour table, which is transparent.
        var hasIndicesWithoutColour: Bool { (palette?.count ?? 768) / 3 < 1 << min(8, codeSize) }
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
    private let bytes: UnsafeRawBufferPointer
    private var offset = 13
    private var globalPalette: UnsafeRawBufferPointer?
    private var control = Control()

    /// Parses the blocks as far as the bytes reach.
    init(_ bytes: UnsafeRawBufferPointer) throws(EideticError) {
        self.bytes = bytes
        guard let width = bytes.littleEndian16(at: 6), let height = bytes.littleEndian16(at: 8),
            let flags = bytes.uint8(at: 10)
        else { return }
        size = PixelSize(width: width, height: height)
        var palette: UnsafeRawBufferPointer?
        guard readPalette(flags: flags, into: &palette) else { return }
        globalPalette = palette
        var blockCount = 0
        while let block = bytes.uint8(at: offset) {
            offset += 1
            blockCount += 1
            try BlockCountLimit.check(blockCount, format: .gif)
            switch block {
            case 0x21: guard readExtension() else { return }
            case 0x2c: guard try readFrame() else { return }
            case 0x3b: isComplete = true; return
            default: try handleUnknownBlock(block); return
            }
        }
    }

    /// A Boolean value indicating whether a pixel can remain transparent.
    var hasAlpha: Bool {
        frames.first.map { $0.area != FrameArea(canvas: size) } ?? false
            || frames.contains {
                $0.transparentIndex != nil || $0.disposal != .leaveInPlace || $0.hasIndicesWithoutColour
            }
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

    private mutating func readExtension() -> Bool {
        guard let label = bytes.uint8(at: offset) else { return false }
        offset += 1
        switch label {
        case 0xf9: readControl()
        case 0xff: readApplication()
        default: break
        }
        return skipSubBlocks()
    }

    private mutating func readControl() {
        guard let length = bytes.uint8(at: offset), length >= 4, let flags = bytes.uint8(at: offset + 1),
            let hundredths = bytes.littleEndian16(at: offset + 2), let index = bytes.uint8(at: offset + 4)
        else { return }
        control.duration = .milliseconds(10 * hundredths)
        control.transparentIndex = flags & 1 != 0 ? index : nil
        switch flags >> 2 & 7 {
        case 2: control.disposal = .clear
        case 3: control.disposal = .restorePrevious
        default: control.disposal = .leaveInPlace
        }
    }

    private mutating func readApplication() {
        guard bytes.contains("\u{b}NETSCAPE2.0", at: offset) || bytes.contains("\u{b}ANIMEXTS1.0", at: offset),
            let length = bytes.uint8(at: offset + 12), length >= 3, bytes.uint8(at: offset + 13) == 1,
            let repeats = bytes.littleEndian16(at: offset + 14)
        else { return }
        // The block has the number of repetitions after the first pass, as browsers count.
        loopCount = repeats == 0 ? nil : repeats + 1
    }

    private mutating func readFrame() throws(EideticError) -> Bool {
        let start = offset - 1
        guard let x = bytes.littleEndian16(at: offset), let y = bytes.littleEndian16(at: offset + 2),
            let width = bytes.littleEndian16(at: offset + 4),
            let height = bytes.littleEndian16(at: offset + 6), let flags = bytes.uint8(at: offset + 8)
        else { return false }
        offset += 9
        var palette = globalPalette
        guard readPalette(flags: flags, into: &palette), let codeSize = bytes.uint8(at: offset) else { return false }
        offset += 1
        if frames.isEmpty { try inferSize(right: x + width, bottom: y + height) }
        let first = offset
        let isWhole = skipSubBlocks()
        frames.append(
            Frame(
                area: FrameArea(x: x, y: y, size: PixelSize(width: width, height: height)),
                duration: control.duration,
                disposal: control.disposal,
                transparentIndex: control.transparentIndex,
                isInterlaced: flags & 0x40 != 0,
                palette: palette,
                codeSize: codeSize,
                data: bytes.slice(at: first, count: min(offset, bytes.count) - first)
                    ?? UnsafeRawBufferPointer(start: nil, count: 0),
                offset: start
            )
        )
        control = Control()
        if isWhole { wholeFrameCount += 1 }
        try FrameCountLimit.check(frames.count, format: .gif)
        return isWhole
    }

    /// Derives a missing canvas size from the first frame.
    private mutating func inferSize(right: Int, bottom: Int) throws(EideticError) {
        if size.width == 0 { size.width = right }
        if size.height == 0 { size.height = bottom }
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
