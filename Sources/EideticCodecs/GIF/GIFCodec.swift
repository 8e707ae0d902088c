import CPixels
import EideticCore

/// GIF, with a decompressor of our own: giflib keeps all frames in memory and cannot stop halfway.
///
/// What no frame covers is transparent, and so is what a frame's disposal clears, as in browsers.
enum GIFCodec: ImageCodec {
    static let formats: [ImageFormat] = [.gif]

    static func header(
        _ bytes: UnsafeRawBufferPointer,
        isComplete: Bool,
        format: ImageFormat
    ) throws(EideticError) -> ImageHeader? {
        let structure = try GIFStructure(bytes)
        guard !structure.frames.isEmpty else {
            guard isComplete else { return nil }
            throw structure.isComplete
                ? EideticError(.corrupt, "GIF: has no frame")
                : EideticError(.truncated, "GIF: ends after \(bytes.count) bytes, before the first frame")
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

    static func decode(_ bytes: UnsafeRawBufferPointer, _ task: DecodeTask) throws(EideticError) -> CodecPicture {
        let structure = try GIFStructure(bytes)
        let wanted = task.allFrames ? structure.frames[...] : structure.frames.prefix(1)
        var canvas = try AnimationCanvas(size: structure.size)
        var frames: [Image.Frame] = []
        var damage: EideticError?
        for frame in wanted where damage == nil {
            try task.checkpoint()
            damage = try draw(frame, number: frames.count + 1, on: &canvas, structure.size, task)
            if let damage, !task.acceptsPartial { throw damage }
            let pixels = try canvas.snapshot(task, hasAlpha: structure.hasAlpha || damage != nil)
            frames.append(Image.Frame(pixels: pixels, duration: wanted.count > 1 ? frame.duration.asPlayed : .zero))
        }
        if damage == nil, task.allFrames, !structure.isComplete {
            damage = EideticError(.truncated, "GIF: ends after \(bytes.count) bytes, without its trailer")
            if let damage, !task.acceptsPartial { throw damage }
        }
        var picture = CodecPicture(frames: frames, loopCount: frames.count > 1 ? structure.loopCount : 1)
        picture.isPartial = damage != nil
        return picture
    }

    /// The frames at the wanted size, and three canvases.
    static func workingMemory(_ task: DecodeTask) -> Int { task.memory(canvases: 3) }

    /// Draws one frame; gives what was wrong with it, after drawing what there was.
    private static func draw(
        _ frame: GIFStructure.Frame,
        number: Int,
        on canvas: inout AnimationCanvas,
        _ size: PixelSize,
        _ task: DecodeTask
    ) throws(EideticError) -> EideticError? {
        guard frame.area.size.pixelCount <= task.limits.pixels else {
            let pixels = "frame \(number) of \(frame.area.size) = \(frame.area.size.pixelCount) pixels"
            throw EideticError(.limitExceeded, "GIF: \(pixels); the limit is \(task.limits.pixels)")
        }
        let (indices, damage) = try decompress(frame, number)
        guard let visible = frame.area.clipped(to: size) else { return damage }
        let pixels = try colour(indices, frame, visible)
        try canvas.draw(pixels, at: visible, blends: true, disposal: frame.disposal)
        return damage
    }

    /// The colour numbers of a frame's pixels, in the order of the file.
    private static func decompress(
        _ frame: GIFStructure.Frame,
        _ number: Int
    ) throws(EideticError) -> (indices: [UInt8], damage: EideticError?) {
        let place = "GIF: frame \(number) at byte \(frame.offset)"
        var status = EIDETIC_LZW_CORRUPT
        let indices = [UInt8](unsafeUninitializedCapacity: frame.area.size.pixelCount) { target, count in
            let source = frame.data.assumingMemoryBound(to: UInt8.self).baseAddress
            let capacity = frame.area.size.pixelCount
            status = eidetic_lzw_decompress(
                source,
                frame.data.count,
                Int32(frame.codeSize),
                target.baseAddress,
                capacity,
                &count
            )
        }
        switch status {
        case EIDETIC_LZW_OK: return (indices, nil)
        case EIDETIC_LZW_TRUNCATED: return (indices, EideticError(.truncated, "\(place) ends too early"))
        default: return (indices, EideticError(.corrupt, "\(place) has broken pixels after \(indices.count) of them"))
        }
    }

    /// The visible part of a frame in colour; pixels that are missing are transparent.
    private static func colour(
        _ indices: [UInt8],
        _ frame: GIFStructure.Frame,
        _ visible: FrameArea
    ) throws(EideticError) -> PixelBuffer {
        let colours = table(frame)
        let width = frame.area.size.width, height = frame.area.size.height
        let rows = frame.isInterlaced ? interlacedRows(height) : Array(0..<height)
        let left = visible.x - frame.area.x
        return try PixelBuffer(size: visible.size, alpha: .straight) { memory, stride in
            memory.initializeMemory(as: UInt8.self, repeating: 0)
            guard let base = memory.assumingMemoryBound(to: UInt8.self).baseAddress else { return }
            indices.withUnsafeBufferPointer { indices in
                for (order, y) in rows.enumerated() {
                    let row = y - (visible.y - frame.area.y), start = order * width + left
                    let count = min(visible.size.width, indices.count - start)
                    guard row >= 0, row < visible.size.height, count > 0 else { continue }
                    eidetic_pixels_look_up(indices.baseAddress.map { $0 + start }, count, colours, base + row * stride)
                }
            }
        }
    }

    /// R, G, B, A of all 256 numbers.
    ///
    /// A number beyond the file's table is transparent; a file without any table means shades of grey.
    private static func table(_ frame: GIFStructure.Frame) -> [UInt8] {
        var table = [UInt8](repeating: 0, count: 1_024)
        let greys = (0...255).flatMap { [UInt8($0), UInt8($0), UInt8($0)] }
        let palette = frame.palette.map { Array($0) } ?? greys
        for index in 0..<palette.count / 3 where index != frame.transparentIndex {
            for channel in 0..<3 { table[4 * index + channel] = palette[3 * index + channel] }
            table[4 * index + 3] = 255
        }
        return table
    }

    /// The rows in the order in which an interlaced frame stores them.
    private static func interlacedRows(_ height: Int) -> [Int] {
        [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { Array(stride(from: $0.0, to: height, by: $0.1)) }
    }
}
