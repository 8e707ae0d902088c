import CWebP
import EideticCore

/// WebP by libwebp: lossy, lossless, with alpha, animated.
enum WebPCodec: ImageCodec {
    static let formats: [ImageFormat] = [.webp]

    static func header(of input: ReceivedBytes) throws(EideticError) -> ImageHeader? {
        let structure = try WebPStructure(input.bytes)
        guard structure.hasHeader || (input.isComplete && structure.size.isPositive) else {
            guard input.isComplete else { return nil }
            throw input.error(in: "WebP", without: "image", before: "the image's header", isWhole: structure.isComplete)
        }
        return ImageHeader(
            format: .webp,
            size: structure.size,
            orientation: structure.orientation,
            hasAlpha: structure.hasAlpha || structure.isAnimated,
            frameCount: max(1, structure.frames.count),
            loopCount: structure.isAnimated ? structure.loopCount : 1,
            durations: structure.frames.map(\.duration)
        )
    }

    static func decode(_ bytes: UnsafeRawBufferPointer, for task: DecodeTask) throws(EideticError) -> DecodedPixels {
        let structure = try WebPStructure(bytes)
        var decoded =
            structure.isAnimated
            ? try decodeAnimation(structure, byteCount: bytes.count, for: task)
            : try decodeStill(bytes, structure: structure, for: task)
        decoded.colourSpace = structure.colourSpace
        return decoded
    }

    /// The pixels at the size of libwebp's decode with some rows, and all of a lossless image; of an animation the
    /// frames at the target size, and three canvases, as also for a preview, which is decoded at full size.
    static func workingMemory(decoding bytes: UnsafeRawBufferPointer, for task: DecodeTask) -> Int {
        guard !task.acceptsPartial, let structure = try? WebPStructure(bytes), !structure.isAnimated else {
            return task.estimatedMemory(canvasCount: 3)
        }
        let storedPixels = structure.isLossless || structure.hasAlpha ? task.header.size.pixelCount : 0
        let rows = rowsInMemory * task.header.size.width
        return 4 * (decodedSize(for: task).pixelCount + storedPixels + rows)
    }

    /// The most rows of pixels that libwebp keeps of a lossy image.
    private static let rowsInMemory = 64

    private static func decodeStill(
        _ bytes: UnsafeRawBufferPointer,
        structure: WebPStructure,
        for task: DecodeTask
    ) throws(EideticError) -> DecodedPixels {
        let alpha: PixelBuffer.Alpha = structure.hasAlpha || task.acceptsPartial ? .straight : .opaque
        let size = decodedSize(for: task)
        var damage: EideticError?
        let pixels = try PixelBuffer(size: size, alpha: alpha) { memory, stride throws(EideticError) in
            let decoder = WebPDecoder(
                bytes,
                isLossless: structure.isLossless,
                ignoresAlpha: structure.mayContainUndeclaredAlpha && !structure.hasAlpha
            )
            damage = try decoder.decode(into: memory, stride: stride, size: size, storedSize: structure.size, for: task)
        }
        if damage == nil, !structure.isComplete {
            damage = EideticError(
                .truncated,
                message: "WebP: the file has \(bytes.count) bytes, fewer than its header declares"
            )
            if let damage, !task.acceptsPartial { throw damage }
        }
        return DecodedPixels(pixels, isPartial: damage != nil)
    }

    /// Returns the size at which libwebp decodes: twice the target size if that is at most half the stored size.
    ///
    /// The rest is left to a better filter. An image with alpha is decoded at full size, because libwebp scales colours
    /// and alpha separately, so that the colours of transparent pixels would bleed.
    static func decodedSize(for task: DecodeTask) -> PixelSize {
        let size = task.header.size
        let targetSize = task.targetSize
        guard !task.header.hasAlpha, size.width >= 4 * targetSize.width, size.height >= 4 * targetSize.height else {
            return size
        }
        return PixelSize(width: 2 * targetSize.width, height: 2 * targetSize.height)
    }

    private static func decodeAnimation(
        _ structure: WebPStructure,
        byteCount: Int,
        for task: DecodeTask
    ) throws(EideticError) -> DecodedPixels {
        var canvas = try AnimationCanvas(size: structure.size)
        var frames: [Image.Frame] = []
        var damage: EideticError?
        for frame in structure.frames where damage == nil && (task.decodesAllFrames || frames.isEmpty) {
            do throws(EideticError) {
                let pixels = try decodeFrame(frame, for: task)
                try canvas.draw(
                    pixels,
                    at: frame.area,
                    blends: frame.blends,
                    disposal: frame.clears ? .clear : .leaveInPlace
                )
                let snapshot = try canvas.snapshot(for: task, hasAlpha: true)
                frames.append(Image.Frame(pixels: snapshot, duration: frame.duration.clampedForPlayback))
            } catch {
                damage = try task.damage(error, keeps: !frames.isEmpty)
            }
        }
        if damage == nil, task.decodesAllFrames || frames.isEmpty, !structure.isComplete || frames.isEmpty {
            damage = EideticError(
                .truncated,
                message: "WebP: the file ends after \(byteCount) bytes and \(frames.count) frames"
            )
        }
        if let damage, !task.acceptsPartial || frames.isEmpty { throw damage }
        var decoded = DecodedPixels(frames: frames, loopCount: structure.loopCount)
        decoded.isPartial = damage != nil
        return decoded
    }

    static func decodeFrame(_ frame: WebPStructure.Frame, for task: DecodeTask) throws(EideticError)
        -> PixelBuffer
    {
        let size = frame.area.size
        guard let features = try WebPStructure.features(of: frame.image),
            size == PixelSize(width: Int(features.width), height: Int(features.height))
        else { throw EideticError(.corrupt, message: "WebP: a frame of \(size) contains an image of another size") }
        let task = task.rejectingPartial
        return try PixelBuffer(size: size, alpha: .straight) { memory, stride throws(EideticError) in
            let decoder = WebPDecoder(frame.image, isLossless: features.format == 2)
            _ = try decoder.decode(into: memory, stride: stride, size: size, storedSize: size, for: task)
        }
    }
}
