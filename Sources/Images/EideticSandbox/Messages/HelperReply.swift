package import EideticCodecs
package import EideticCore

/// A message of a decoding process, which is not trusted once it has read an image.
package enum HelperReply: Sendable, Equatable {
    /// The process has restricted itself, and waits for images.
    case ready(HelperDescription)
    case failure(EideticError.Code, message: String)
    /// The header; `nil` if more bytes are needed. The durations are in the window.
    case header(HeaderDescription?)
    /// The header, and what the decode needs.
    case opened(HeaderDescription, DecodeMemory, ResultLayout)
    /// The frames are in the memory of the request.
    case decoded(ResultDescription)
    /// The image was opened, and the frame is in the window.
    case decodedAtOnce(HeaderDescription, ResultLayout, ResultDescription)

    /// The properties of an animation; `nil` if the bytes are none, or its first frame has not arrived.
    case animation(AnimationDescription?, DecoderUsage)
    /// The frame of a kept decoder is in the memory of the request; `nil` if no pixel is visible yet.
    case frame(ResultDescription?, DecoderUsage)
    /// The parts of the metadata are in the memory of the request, one behind the other.
    case metadata(MetadataLayout)
}

extension HelperReply: WireRecord {
    package static let layout = Layout<Self>(
        Case(0, ready) { if case .ready(let description) = $0 { description } else { nil } },
        Case(1, failure, .code, .message) {
            if case .failure(let code, let message) = $0 { (code, message) } else { nil }
        },
        Case(2, header) { if case .header(let header) = $0 { .some(header) } else { nil } },
        Case(3, opened) {
            if case .opened(let header, let memory, let layout) = $0 { (header, memory, layout) } else { nil }
        },
        Case(4, decoded) { if case .decoded(let result) = $0 { result } else { nil } },
        Case(5, animation) { if case .animation(let animation, let usage) = $0 { (animation, usage) } else { nil } },
        Case(6, frame) { if case .frame(let result, let usage) = $0 { (result, usage) } else { nil } },
        Case(7, metadata) { if case .metadata(let layout) = $0 { layout } else { nil } },
        Case(8, decodedAtOnce) {
            if case .decodedAtOnce(let header, let layout, let result) = $0 { (header, layout, result) } else { nil }
        }
    )
}

extension Layout<EideticError.Code> {
    /// The name of a code; an unknown one is that of a failed decode.
    fileprivate static var code: Self {
        Layout<String>.text(limit: 64).map(to: { EideticError.Code(named: $0) ?? .decoderFailed }, from: \.description)
    }
}

extension Layout<String> {
    /// The largest length of a message of an error.
    private static var messageLimit: Int { 1_000 }

    /// A message of an error, of which the beginning is sent.
    fileprivate static var message: Self {
        text(limit: messageLimit).map(
            to: { $0 },
            // A character that is cut in two becomes a mark of three bytes.
            from: { String(decoding: $0.utf8.prefix(messageLimit - 2), as: UTF8.self) }
        )
    }
}

/// The header of an image, without the durations of its frames.
package struct HeaderDescription: Sendable, Hashable {
    package let format: ImageFormat
    package let size: PixelSize
    package let orientation: ImageOrientation
    package let hasAlpha: Bool
    package let frameCount: Int
    package let loopCount: Int?
    /// The number of durations in the window: that of the frames, or 0.
    package let durationCount: Int
}

extension HeaderDescription: WireRecord {
    package init(_ header: ImageHeader) {
        self.init(
            format: header.format,
            size: header.size,
            orientation: header.orientation,
            hasAlpha: header.hasAlpha,
            frameCount: header.frameCount,
            loopCount: header.loopCount,
            durationCount: header.durations.count
        )
    }

    package static let layout = Layout(
        Self.init,
        Field(\.format, .name),
        Field(\.size, .size(upTo: 1 << 32)),
        Field(\.orientation, .orientation),
        Field(\.hasAlpha),
        Field(\.frameCount, .number(in: 1...Int.max)),
        Field(\.loopCount, .optional(.number())),
        Field(\.durationCount, .number(in: 0...ResultLayout.maximumFrameCount))
    )

    /// Returns the header with the durations of its frames.
    package func header(durations: [Duration]) -> ImageHeader {
        ImageHeader(
            format: format,
            size: size,
            orientation: orientation,
            hasAlpha: hasAlpha,
            frameCount: frameCount,
            loopCount: loopCount,
            durations: durations
        )
    }
}

extension Layout<ImageOrientation> {
    fileprivate static var orientation: Self {
        Layout<UInt8>.value.compactMap(to: { ImageOrientation(rawValue: Int($0)) }, from: { UInt8($0.rawValue) })
    }
}

/// An image whose frames are in shared memory.
package struct ResultDescription: Sendable, Hashable {
    package var frameCount: Int
    package var loopCount: Int?
    package var sourceSize: PixelSize
    package var isPartial: Bool
    package var processorTime: Duration

    package init(
        frameCount: Int,
        loopCount: Int?,
        sourceSize: PixelSize,
        isPartial: Bool,
        processorTime: Duration
    ) {
        self.frameCount = frameCount
        self.loopCount = loopCount
        self.sourceSize = sourceSize
        self.isPartial = isPartial
        self.processorTime = processorTime
    }
}

extension ResultDescription: WireRecord {
    package init(_ image: Image, processorTime: Duration) {
        self.init(
            frameCount: image.frames.count,
            loopCount: image.loopCount,
            sourceSize: image.sourceSize,
            isPartial: image.isPartial,
            processorTime: processorTime
        )
    }

    package static let layout = Layout(
        Self.init,
        Field(\.frameCount, .number(in: 1...ResultLayout.maximumFrameCount)),
        Field(\.loopCount, .optional(.number())),
        Field(\.sourceSize, .size(upTo: 1 << 32)),
        Field(\.isPartial),
        Field(\.processorTime, .value.validated { $0 >= .zero })
    )
}
