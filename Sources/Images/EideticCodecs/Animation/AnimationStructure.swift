import EideticCore

/// One frame of an animation, as far as composing needs to know it.
struct AnimationFrame {
    /// The part of the canvas that the frame covers; `nil` if none of it lies on the canvas.
    let area: FrameArea?
    /// The duration as stored.
    let duration: Duration
    /// The disposal of the area before the next frame.
    let disposal: FrameDisposal
    /// A Boolean value indicating whether transparent pixels show what was there before.
    let blends: Bool
    /// A Boolean value indicating whether a pixel can be transparent.
    var mayBeTransparent: Bool

    /// Returns `true` if nothing of the canvas before the frame remains visible; otherwise, `false`.
    func replacesCanvas(of size: PixelSize) -> Bool {
        area == FrameArea(canvas: size) && (!blends || !mayBeTransparent)
    }
}

/// The blocks of a file that may be an animation, as far as finding its frames needs them.
///
/// The file may grow: each block is parsed once, however many pieces it arrives in.
protocol FrameIndex {
    /// Parses the blocks that have arrived since the call before.
    ///
    /// After an error the frames before it can still be decoded.
    ///
    /// - Parameters:
    ///   - bytes: The bytes so far, which may have moved; valid until the next call.
    ///   - isFileComplete: `true` if no more bytes follow.
    /// - Throws: `corrupt` or `limitExceeded`.
    mutating func update(_ bytes: UnsafeRawBufferPointer, isFileComplete: Bool) throws(EideticError)

    /// A Boolean value indicating whether more than one frame exists or is announced.
    var isAnimated: Bool { get }
    /// A Boolean value indicating whether the image is known to be still.
    var isStill: Bool { get }
    /// A Boolean value indicating whether no more frames follow.
    var isComplete: Bool { get }
    /// The number of frames whose pixels are complete.
    var wholeFrameCount: Int { get }
}

/// The blocks of a file whose frames are composed on a canvas, parsed without decoding pixels.
protocol AnimationStructure: FrameIndex {
    /// Creates the structure of a file without bytes.
    init()

    /// The properties of the image, without durations; `nil` if more bytes are needed.
    var header: ImageHeader? { get }
    var size: PixelSize { get }
    /// A Boolean value indicating whether a pixel of the canvas can be transparent.
    var hasTransparentCanvas: Bool { get }
    /// The number of times the frames play; `nil` means forever.
    var loopCount: Int? { get }
    /// The meaning of the colours; `nil` means sRGB.
    var colourSpace: ColourSpace? { get }
    /// The number of frames whose pixels have begun.
    var frameCount: Int { get }
    /// Returns a frame whose pixels have begun.
    func animationFrame(at index: Int) -> AnimationFrame
    /// Decodes the visible part of a frame, not premultiplied; opaque if no pixel is transparent or missing.
    ///
    /// - Precondition: The frame has an area.
    func decodeFrame(at index: Int, for task: DecodeTask) throws(EideticError) -> PixelBuffer
}

extension GIFStructure: AnimationStructure {
    mutating func update(_ bytes: UnsafeRawBufferPointer, isFileComplete: Bool) throws(EideticError) {
        try update(bytes)
    }

    var header: ImageHeader? {
        guard !frames.isEmpty else { return nil }
        return ImageHeader(
            format: .gif,
            size: size,
            hasAlpha: hasAlpha,
            frameCount: frames.count,
            loopCount: isAnimated ? loopCount : 1
        )
    }

    var hasTransparentCanvas: Bool { hasAlpha }
    var isAnimated: Bool { frames.count > 1 }
    var isStill: Bool { isComplete && frames.count < 2 }
    var colourSpace: ColourSpace? { nil }
    var frameCount: Int { frames.count }

    func animationFrame(at index: Int) -> AnimationFrame {
        let frame = frames[index]
        return AnimationFrame(
            area: frame.area.clipped(to: size),
            duration: frame.duration,
            disposal: frame.disposal,
            blends: true,
            mayBeTransparent: frame.transparentIndex != nil
        )
    }

    func decodeFrame(at index: Int, for task: DecodeTask) throws(EideticError) -> PixelBuffer {
        let area = frames[index].area.clipped(to: size) ?? FrameArea(canvas: size)
        let hasAlpha = frames[index].transparentIndex != nil
        return try GIFCodec.paint(frames[index], number: index + 1, in: area, hasAlpha: hasAlpha, for: task).0
    }
}

extension WebPStructure: AnimationStructure {
    mutating func update(_ bytes: UnsafeRawBufferPointer, isFileComplete: Bool) throws(EideticError) {
        try update(bytes)
    }

    var header: ImageHeader? {
        guard hasHeader else { return nil }
        return ImageHeader(
            format: .webp,
            size: size,
            orientation: orientation,
            hasAlpha: hasAlpha || isAnimated,
            frameCount: max(1, frames.count),
            loopCount: isAnimated ? loopCount : 1
        )
    }

    var hasTransparentCanvas: Bool { true }
    var isStill: Bool { size.isPositive && !isAnimated }
    var frameCount: Int { frames.count }
    var wholeFrameCount: Int { frames.count }

    func animationFrame(at index: Int) -> AnimationFrame {
        let frame = frames[index]
        return AnimationFrame(
            area: frame.area,
            duration: frame.duration,
            disposal: frame.clears ? .clear : .leaveInPlace,
            blends: frame.blends,
            mayBeTransparent: true
        )
    }

    func decodeFrame(at index: Int, for task: DecodeTask) throws(EideticError) -> PixelBuffer {
        try WebPCodec.decodeFrame(frames[index], for: task)
    }
}

extension PNGStructure: AnimationStructure {
    var header: ImageHeader? {
        guard hasHeader, !isCgBI else { return nil }
        return ImageHeader(
            format: .png,
            size: size,
            orientation: orientation,
            hasAlpha: hasAlpha,
            frameCount: max(1, frameCount),
            loopCount: frameCount > 1 ? loopCount : 1
        )
    }

    var hasTransparentCanvas: Bool { true }
    var isStill: Bool { hasHeader && !announcesFrames }

    func animationFrame(at index: Int) -> AnimationFrame {
        let frame = frame(at: index)
        return AnimationFrame(
            area: frame.area,
            duration: frame.duration,
            disposal: frame.disposal,
            blends: frame.blends,
            mayBeTransparent: hasAlpha
        )
    }

    func decodeFrame(at index: Int, for task: DecodeTask) throws(EideticError) -> PixelBuffer {
        try APNGDecoder.decodeFrame(frame(at: index), of: self, for: task)
    }
}
