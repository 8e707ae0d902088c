import CWebP
import EideticCore

/// WebP by libwebp: lossy, lossless, with alpha, animated.
enum WebPCodec: ImageCodec {
    static let formats: [ImageFormat] = [.webp]

    static func header(
        _ bytes: UnsafeRawBufferPointer,
        isComplete: Bool,
        format: ImageFormat
    ) throws(EideticError) -> ImageHeader? {
        let structure = try WebPStructure(bytes)
        guard structure.hasHeader || (isComplete && structure.size.isPositive) else {
            guard isComplete else { return nil }
            throw structure.isComplete
                ? EideticError(.corrupt, "WebP: has no picture")
                : EideticError(.truncated, "WebP: ends after \(bytes.count) bytes, before the picture's header")
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

    static func decode(_ bytes: UnsafeRawBufferPointer, _ task: DecodeTask) throws(EideticError) -> CodecPicture {
        let structure = try WebPStructure(bytes)
        var picture =
            structure.isAnimated ? try animation(structure, bytes.count, task) : try still(bytes, structure, task)
        picture.iccProfile = structure.iccProfile
        return picture
    }

    /// The frames at the wanted size, and three canvases.
    static func workingMemory(_ bytes: UnsafeRawBufferPointer, _ task: DecodeTask) -> Int { task.memory(canvases: 3) }

    private static func still(
        _ bytes: UnsafeRawBufferPointer,
        _ structure: WebPStructure,
        _ task: DecodeTask
    ) throws(EideticError) -> CodecPicture {
        let alpha: PixelBuffer.Alpha = structure.hasAlpha || task.acceptsPartial ? .straight : .opaque
        let size = scaledSize(structure, task)
        var damage: EideticError?
        let pixels = try PixelBuffer(size: size, alpha: alpha) { memory, stride throws(EideticError) in
            let picture = WebPPicture(
                bytes,
                isLossless: structure.isLossless,
                deniesAlpha: structure.mayHideAlpha && !structure.hasAlpha
            )
            damage = try picture.decode(into: memory, stride, size, stored: structure.size, task)
        }
        if damage == nil, !structure.isComplete {
            damage = EideticError(.truncated, "WebP: ends after \(bytes.count) bytes, fewer than its header says")
            if let damage, !task.acceptsPartial { throw damage }
        }
        return CodecPicture(pixels, isPartial: damage != nil)
    }

    /// The library's own scaling halves the work of what is to become less than a quarter.
    ///
    /// Twice the wanted size is left for a better filter. Not with alpha, which the library scales apart from the
    /// colours, so that transparent pixels' colours would bleed.
    private static func scaledSize(_ structure: WebPStructure, _ task: DecodeTask) -> PixelSize {
        let size = structure.size, wanted = task.wanted
        guard !structure.hasAlpha, size.width >= 4 * wanted.width, size.height >= 4 * wanted.height else { return size }
        return PixelSize(width: 2 * wanted.width, height: 2 * wanted.height)
    }

    private static func animation(
        _ structure: WebPStructure,
        _ byteCount: Int,
        _ task: DecodeTask
    ) throws(EideticError) -> CodecPicture {
        var canvas = try AnimationCanvas(size: structure.size)
        var frames: [Image.Frame] = []
        var damage: EideticError?
        for frame in structure.frames where damage == nil && (task.allFrames || frames.isEmpty) {
            do throws(EideticError) {
                let pixels = try decode(frame, task)
                try canvas.draw(pixels, at: frame.area, blends: frame.blends, disposal: frame.clears ? .clear : .keep)
                let snapshot = try canvas.snapshot(task, hasAlpha: true)
                frames.append(Image.Frame(pixels: snapshot, duration: frame.duration.asPlayed))
            } catch {
                guard task.acceptsPartial, !frames.isEmpty, [.truncated, .corrupt].contains(error.code) else {
                    throw error
                }
                damage = error
            }
        }
        if damage == nil, task.allFrames || frames.isEmpty, !structure.isComplete || frames.isEmpty {
            damage = EideticError(.truncated, "WebP: ends after \(byteCount) bytes and \(frames.count) frames")
        }
        if let damage, !task.acceptsPartial || frames.isEmpty { throw damage }
        var picture = CodecPicture(frames: frames, loopCount: structure.loopCount)
        picture.isPartial = damage != nil
        return picture
    }

    private static func decode(_ frame: WebPStructure.Frame, _ task: DecodeTask) throws(EideticError) -> PixelBuffer {
        let size = frame.area.size
        guard let features = try WebPStructure.features(frame.image),
            size == PixelSize(width: Int(features.width), height: Int(features.height))
        else { throw EideticError(.corrupt, "WebP: a frame of \(size) holds a picture of another size") }
        let task = task.refusingPartial
        return try PixelBuffer(size: size, alpha: .straight) { memory, stride throws(EideticError) in
            let picture = WebPPicture(frame.image, isLossless: features.format == 2)
            _ = try picture.decode(into: memory, stride, size, stored: size, task)
        }
    }
}
