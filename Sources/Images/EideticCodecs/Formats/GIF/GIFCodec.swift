import CPixels
import EideticCore

/// GIF, with Eidetic's own decompressor: giflib keeps all frames in memory and cannot be interrupted.
///
/// Pixels that no frame covers or that a disposal clears are transparent, as in browsers.
enum GIFCodec: ImageCodec {
    static let formats: [ImageFormat] = [.gif]

    static func header(of input: ReceivedBytes) throws(EideticError) -> ImageHeader? {
        let structure = try GIFStructure(input.bytes, isWhole: input.isComplete)
        guard !structure.frames.isEmpty else {
            guard input.isComplete else { return nil }
            throw input.error(in: "GIF", without: "frame", before: "the first frame", isWhole: structure.isComplete)
        }
        let isAnimated = structure.frames.count > 1
        return ImageHeader(
            format: .gif,
            size: structure.size,
            hasAlpha: structure.hasAlpha,
            frameCount: structure.frames.count,
            loopCount: isAnimated ? structure.loopCount : 1,
            durations: isAnimated ? structure.frames.map(\.duration) : []
        )
    }

    static func decode(_ bytes: UnsafeRawBufferPointer, for task: DecodeTask) throws(EideticError) -> DecodedPixels {
        let structure = try GIFStructure(bytes)
        var decoded =
            task.decodesAllFrames && structure.frames.count > 1
            ? try decodeAnimation(structure, for: task) : try decodeStill(structure, for: task)
        // As in browsers, a file without its trailer shows the frames that it has.
        if task.acceptsPartial, task.decodesAllFrames, !structure.isComplete { decoded.isPartial = true }
        return decoded
    }

    /// The frames at the target size, three canvases, and the colour indices of one frame, which may be larger than a
    /// canvas.
    static func workingMemory(decoding bytes: UnsafeRawBufferPointer, for task: DecodeTask) -> Int {
        let frames = (try? GIFStructure(bytes))?.frames ?? []
        let largest = frames.map(\.area.size.pixelCount).filter { $0 <= task.limits.pixels }.max() ?? 0
        let (memory, overflow) = task.estimatedMemory(canvasCount: 3).addingReportingOverflow(largest)
        return overflow ? .max : memory
    }

    /// Decodes the first frame directly onto the canvas.
    private static func decodeStill(_ structure: GIFStructure, for task: DecodeTask) throws(EideticError)
        -> DecodedPixels
    {
        let canvas = FrameArea(canvas: structure.size)
        let (pixels, damage) = try paint(
            structure.frames[0],
            number: 1,
            in: canvas,
            hasAlpha: structure.hasAlpha,
            for: task
        )
        return DecodedPixels(pixels, isPartial: damage != nil)
    }

    private static func decodeAnimation(_ structure: GIFStructure, for task: DecodeTask) throws(EideticError)
        -> DecodedPixels
    {
        var canvas = try AnimationCanvas(size: structure.size)
        var frames: [Image.Frame] = []
        var damage: EideticError?
        var hasAlpha = structure.hasAlpha
        for frame in structure.frames where damage == nil {
            try task.checkpoint()
            if let visible = frame.area.clipped(to: structure.size) {
                let pixels: PixelBuffer
                let isKeyed = frame.transparentIndex != nil
                (pixels, damage) = try paint(frame, number: frames.count + 1, in: visible, hasAlpha: isKeyed, for: task)
                // The data of the first frame may end early, which only decoding shows.
                hasAlpha = hasAlpha || (frames.isEmpty && pixels.alpha != .opaque)
                try canvas.draw(pixels, at: visible, blends: true, disposal: frame.disposal)
            } else {
                canvas.drawNothing()
            }
            let snapshot = try canvas.snapshot(for: task, hasAlpha: hasAlpha)
            frames.append(Image.Frame(pixels: snapshot, duration: frame.duration.clampedForPlayback))
        }
        var decoded = DecodedPixels(frames: frames, loopCount: structure.loopCount)
        decoded.isPartial = damage != nil
        return decoded
    }

    /// Decodes the part of a frame that lies in `region` of the canvas.
    ///
    /// - Returns: The pixels, and the error of missing or corrupt ones if the task accepts partial images.
    static func paint(
        _ frame: GIFStructure.Frame,
        number: Int,
        in region: FrameArea,
        hasAlpha: Bool,
        for task: DecodeTask
    ) throws(EideticError) -> (PixelBuffer, damage: EideticError?) {
        guard frame.area.size.pixelCount <= task.limits.pixels else {
            let pixels = "frame \(number) of \(frame.area.size) = \(frame.area.size.pixelCount) pixels"
            throw EideticError(.limitExceeded, message: "GIF: \(pixels); the limit is \(task.limits.pixels)")
        }
        try task.checkpoint()
        let indices = try ScratchBuffer(byteCount: frame.area.size.pixelCount)
        let (count, damage) = decompress(frame, number: number, into: indices.bytes)
        if let damage, !task.acceptsPartial { throw damage }
        let decodedIndices = UnsafeRawBufferPointer(rebasing: indices.bytes[..<count])
        let isFull = count == indices.bytes.count
        return (try applyPalette(to: decodedIndices, of: frame, in: region, hasAlpha: hasAlpha || !isFull), damage)
    }

    /// Decompresses the colour indices of a frame in file order.
    ///
    /// - Returns: The number of indices, and the error if some are missing or corrupt.
    private static func decompress(
        _ frame: GIFStructure.Frame,
        number: Int,
        into indices: UnsafeMutableRawBufferPointer
    ) -> (count: Int, damage: EideticError?) {
        let location = "GIF: frame \(number) at byte \(frame.offset)"
        var count = 0
        let status = eidetic_lzw_decompress(
            frame.data.bytePointer,
            frame.data.count,
            Int32(frame.codeSize),
            indices.bytePointer,
            indices.count,
            &count
        )
        switch status {
        // As in browsers, what the data leaves out is transparent.
        case EIDETIC_LZW_OK, EIDETIC_LZW_ENDED: return (count, nil)
        // So is the only pixel.
        case EIDETIC_LZW_TRUNCATED where frame.isOnlyPixel: return (count, nil)
        case EIDETIC_LZW_TRUNCATED: return (count, EideticError(.truncated, message: "\(location) is truncated"))
        default: return (count, EideticError(.corrupt, message: "\(location) is corrupt after \(count) pixels"))
        }
    }

    /// Returns a region of the canvas with a frame on it; pixels outside the frame or missing in it are transparent.
    static func applyPalette(
        to indices: UnsafeRawBufferPointer,
        of frame: GIFStructure.Frame,
        in region: FrameArea,
        hasAlpha: Bool
    ) throws(EideticError) -> PixelBuffer {
        let palette = palette(of: frame)
        let area = frame.area
        let rows =
            frame.isInterlaced ? interlacedRows(height: area.size.height) : (0..<area.size.height).map { ($0, 1) }
        let left = max(area.x, region.x)
        let right = min(area.x + area.size.width, region.x + region.size.width)
        let isCovered = area == region && indices.count == area.size.pixelCount
        return try PixelBuffer(size: region.size, alpha: hasAlpha ? .straight : .opaque) { memory, stride in
            guard let base = memory.bytePointer else { return }
            if !isCovered { memory.initializeMemory(as: UInt8.self, repeating: 0) }
            for (order, (y, height)) in rows.enumerated() {
                let start = order * area.size.width + left - area.x
                let count = min(right - left, indices.count - start)
                let top = area.y + y - region.y
                guard count > 0, top < region.size.height else { continue }
                // As in browsers, a whole row of a coarse pass stands for those below it that are missing.
                let isWhole = start + count == order * area.size.width + right - area.x
                for row in max(0, top)..<max(0, min(top + (isWhole && !isCovered ? height : 1), region.size.height)) {
                    let target = base + row * stride + 4 * (left - region.x)
                    eidetic_pixels_map_indices(indices.bytePointer.map { $0 + start }, count, palette, target)
                }
            }
        }
    }

    /// Returns R, G, B, A for each of the 256 indices.
    ///
    /// As in browsers, an index without a colour in the file is black.
    private static func palette(of frame: GIFStructure.Frame) -> [UInt8] {
        var table = [UInt8](repeating: 0, count: 1_024)
        for index in 0..<256 where index != frame.transparentIndex {
            for channel in 0..<3 {
                table[4 * index + channel] = UInt8(frame.palette?.uint8(at: 3 * index + channel) ?? 0)
            }
            table[4 * index + 3] = 255
        }
        return table
    }

    /// Returns the rows in the order in which an interlaced frame stores them, each with the height of the block for
    /// which it stands as long as others are missing.
    private static func interlacedRows(height: Int) -> [(row: Int, blockHeight: Int)] {
        [(0, 8, 8), (4, 8, 4), (2, 4, 2), (1, 2, 1)].flatMap { first, distance, block in
            stride(from: first, to: height, by: distance).map { ($0, min(block, height - $0)) }
        }
    }
}
