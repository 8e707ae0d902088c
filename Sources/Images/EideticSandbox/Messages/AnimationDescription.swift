package import EideticCore

/// The properties of an animation, without the durations of its frames, which are in the window.
package struct AnimationDescription: Sendable, Hashable {
    package let format: ImageFormat
    package let size: PixelSize
    package let sourceSize: PixelSize
    package let loopCount: Int?
    package let isComplete: Bool
    /// The number of durations in the window, which is that of the frames.
    package let frameCount: Int
}

extension AnimationDescription: WireRecord {
    package init(_ info: AnimationInfo) {
        self.init(
            format: info.format,
            size: info.size,
            sourceSize: info.sourceSize,
            loopCount: info.loopCount,
            isComplete: info.isComplete,
            frameCount: info.frameCount
        )
    }

    package static let layout = Layout(
        Self.init,
        Field(\.format, .name),
        Field(\.size, .size(upTo: 1 << 30)),
        Field(\.sourceSize, .size(upTo: 1 << 30)),
        Field(\.loopCount, .optional(.number())),
        Field(\.isComplete),
        Field(\.frameCount, .number(in: 0...ResultLayout.maximumFrameCount))
    )

    /// Returns the properties with the durations of the frames.
    package func info(durations: [Duration]) -> AnimationInfo {
        AnimationInfo(
            format: format,
            size: size,
            sourceSize: sourceSize,
            durations: durations,
            loopCount: loopCount,
            isComplete: isComplete
        )
    }
}

/// The resources that a kept decoder has used.
package struct DecoderUsage: Sendable, Hashable {
    /// The memory that the decoder keeps until the next request, without the encoded bytes.
    package var retainedByteCount: Int
    /// The encoded bytes that were decoded for previews; those of repeated decodes count again.
    package var decodedByteCount: Int

    package init(retainedByteCount: Int = 0, decodedByteCount: Int = 0) {
        self.retainedByteCount = retainedByteCount
        self.decodedByteCount = decodedByteCount
    }
}

extension DecoderUsage: WireRecord {
    package static let layout = Layout(
        Self.init,
        Field(\.retainedByteCount, .number()),
        Field(\.decodedByteCount, .number())
    )
}
