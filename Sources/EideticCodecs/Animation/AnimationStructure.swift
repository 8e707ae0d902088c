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
    let mayBeTransparent: Bool

    /// Returns `true` if nothing of the canvas before the frame remains visible; otherwise, `false`.
    func replacesCanvas(of size: PixelSize) -> Bool {
        area == FrameArea(canvas: size) && (!blends || !mayBeTransparent)
    }
}

/// The blocks of a file whose frames are composed on a canvas, parsed without decoding pixels.
protocol AnimationStructure {
    /// Parses the blocks as far as the bytes, which must outlive the structure, reach.
    init(_ bytes: UnsafeRawBufferPointer) throws(EideticError)

    /// The size of the canvas.
    var size: PixelSize { get }
    /// A Boolean value indicating whether a pixel of the canvas can be transparent.
    var hasTransparentCanvas: Bool { get }
    /// A Boolean value indicating whether more than one frame exists or is announced.
    var isAnimated: Bool { get }
    /// A Boolean value indicating whether no more frames follow.
    var isComplete: Bool { get }
    /// The number of times the frames play; `nil` means forever.
    var loopCount: Int? { get }
    /// The embedded colour profile.
    var colourProfile: [UInt8]? { get }
    /// The frames whose pixels are complete or, if `isFileComplete`, have begun.
    func animationFrames(isFileComplete: Bool) -> [AnimationFrame]
    /// Decodes the visible part of a frame, not premultiplied.
    ///
    /// - Precondition: The frame has an area.
    func decodeFrame(at index: Int, for task: DecodeTask) throws(EideticError) -> PixelBuffer
}

extension GIFStructure: AnimationStructure {
    var hasTransparentCanvas: Bool { hasAlpha }
    var isAnimated: Bool { frames.count > 1 }
    var colourProfile: [UInt8]? { nil }

    func animationFrames(isFileComplete: Bool) -> [AnimationFrame] {
        frames.prefix(isFileComplete ? frames.count : wholeFrameCount).map { frame in
            AnimationFrame(
                area: frame.area.clipped(to: size),
                duration: frame.duration,
                disposal: frame.disposal,
                blends: true,
                mayBeTransparent: frame.transparentIndex != nil || frame.hasIndicesWithoutColour
            )
        }
    }

    func decodeFrame(at index: Int, for task: DecodeTask) throws(EideticError) -> PixelBuffer {
        let area = frames[index].area.clipped(to: size) ?? FrameArea(canvas: size)
        return try GIFCodec.paint(frames[index], number: index + 1, in: area, hasAlpha: true, for: task).0
    }
}

extension WebPStructure: AnimationStructure {
    var hasTransparentCanvas: Bool { true }
    var colourProfile: [UInt8]? { iccProfile }

    func animationFrames(isFileComplete: Bool) -> [AnimationFrame] {
        frames.map { frame in
            AnimationFrame(
                area: frame.area,
                duration: frame.duration,
                disposal: frame.clears ? .clear : .leaveInPlace,
                blends: frame.blends,
                mayBeTransparent: true
            )
        }
    }

    func decodeFrame(at index: Int, for task: DecodeTask) throws(EideticError) -> PixelBuffer {
        try WebPCodec.decodeFrame(frames[index], for: task)
    }
}

extension PNGStructure: AnimationStructure {
    var hasTransparentCanvas: Bool { true }
    var colourProfile: [UInt8]? {
        compressedProfile.flatMap { ZlibStream.inflate($0, limit: ICCProfile.maximumSize) }
    }

    func animationFrames(isFileComplete: Bool) -> [AnimationFrame] {
        let frames = frames, isWhole = isComplete || isFileComplete
        // The pixels of the last frame may continue in the next chunk.
        return frames.prefix(isWhole ? frames.count : max(0, frames.count - 1)).map { frame in
            AnimationFrame(
                area: frame.area,
                duration: frame.duration,
                disposal: frame.disposal,
                blends: frame.blends,
                mayBeTransparent: hasAlpha
            )
        }
    }

    func decodeFrame(at index: Int, for task: DecodeTask) throws(EideticError) -> PixelBuffer {
        try APNGDecoder.decodeFrame(frames[index], of: self, for: task)
    }
}
