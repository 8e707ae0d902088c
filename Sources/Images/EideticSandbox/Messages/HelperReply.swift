package import EideticCodecs
package import EideticCore

/// A message of a decoding process, which is not trusted once it has read an image.
package enum HelperReply: Sendable, Equatable {
    /// The process has restricted itself, and waits for images.
    case ready(HelperDescription)
    /// The request failed.
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

    private enum Kind: UInt8 { case ready, failure, header, opened, decoded, animation, frame, metadata, decodedAtOnce }

    /// The largest length of a message of an error.
    private static let maximumMessageLength = 1_000
}

extension HelperReply: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        switch self {
        case .ready(let description):
            writer.append(Kind.ready.rawValue)
            writer.append(description)
        case .failure(let code, let message):
            writer.append(Kind.failure.rawValue)
            writer.append(code.description)
            writer.append(String(decoding: message.utf8.prefix(Self.maximumMessageLength - 2), as: UTF8.self))
        case .header(let header):
            writer.append(Kind.header.rawValue)
            writer.append(optional: header) { $0.append($1) }
        case .opened(let header, let memory, let layout):
            writer.append(Kind.opened.rawValue)
            writer.append(header)
            writer.append(memory)
            writer.append(layout)
        case .decoded(let result):
            writer.append(Kind.decoded.rawValue)
            writer.append(result)
        case .decodedAtOnce(let header, let layout, let result):
            writer.append(Kind.decodedAtOnce.rawValue)
            writer.append(header)
            writer.append(layout)
            writer.append(result)
        case .animation(let description, let usage):
            writer.append(Kind.animation.rawValue)
            writer.append(optional: description) { $0.append($1) }
            writer.append(usage)
        case .frame(let result, let usage):
            writer.append(Kind.frame.rawValue)
            writer.append(optional: result) { $0.append($1) }
            writer.append(usage)
        case .metadata(let layout):
            writer.append(Kind.metadata.rawValue)
            writer.append(layout)
        }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        switch try reader.enumeration(Kind.self) {
        case .ready: self = .ready(try HelperDescription(from: &reader))
        case .failure:
            let name = try reader.text(limit: 64), message = try reader.text(limit: Self.maximumMessageLength)
            self = .failure(EideticError.Code(named: name) ?? .decoderFailed, message: message)
        case .header:
            self = .header(
                try reader.optional { reader throws(WireError) in try HeaderDescription(from: &reader) }
            )
        case .opened:
            self = .opened(
                try HeaderDescription(from: &reader),
                try DecodeMemory(from: &reader),
                try ResultLayout(from: &reader)
            )
        case .decoded: self = .decoded(try ResultDescription(from: &reader))
        case .animation:
            let description = try reader.optional { reader throws(WireError) in
                try AnimationDescription(from: &reader)
            }
            self = .animation(description, try DecoderUsage(from: &reader))
        case .frame:
            let result = try reader.optional { reader throws(WireError) in try ResultDescription(from: &reader) }
            self = .frame(result, try DecoderUsage(from: &reader))
        case .metadata: self = .metadata(try MetadataLayout(from: &reader))
        case .decodedAtOnce:
            self = .decodedAtOnce(
                try HeaderDescription(from: &reader),
                try ResultLayout(from: &reader),
                try ResultDescription(from: &reader)
            )
        }
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

    package init(_ header: ImageHeader) {
        (format, size, orientation) = (header.format, header.size, header.orientation)
        (hasAlpha, frameCount, loopCount) = (header.hasAlpha, header.frameCount, header.loopCount)
        durationCount = header.durations.count
    }

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

extension HeaderDescription: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(format.rawValue)
        writer.append(size.width)
        writer.append(size.height)
        writer.append(UInt8(orientation.rawValue))
        writer.append(hasAlpha)
        writer.append(frameCount)
        writer.append(optional: loopCount) { $0.append($1) }
        writer.append(durationCount)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        let name = try reader.text(limit: 32)
        guard let format = ImageFormat(rawValue: name) else { throw .unknownCase(type: "ImageFormat", value: 0) }
        self.format = format
        size = PixelSize(width: try reader.integer(), height: try reader.integer())
        guard size.width > 0, size.height > 0, size.width <= 1 << 32, size.height <= 1 << 32 else {
            throw .unknownCase(type: "PixelSize", value: 0)
        }
        let orientation = try reader.integer(UInt8.self)
        guard let known = ImageOrientation(rawValue: Int(orientation)) else {
            throw .unknownCase(type: "ImageOrientation", value: UInt64(orientation))
        }
        self.orientation = known
        hasAlpha = try reader.boolean()
        frameCount = try reader.integer()
        loopCount = try reader.optional { reader throws(WireError) in try reader.integer(Int.self) }
        durationCount = try reader.integer()
        guard frameCount > 0, loopCount ?? 0 >= 0, (0...ResultLayout.maximumFrameCount).contains(durationCount) else {
            throw .unknownCase(type: "ImageHeader", value: UInt64(bitPattern: Int64(frameCount)))
        }
    }
}

/// An image whose frames are in shared memory.
package struct ResultDescription: Sendable, Hashable {
    package var frameCount: Int
    package var loopCount: Int?
    package var sourceSize: PixelSize
    package var isPartial: Bool
    /// The processor time of the decode.
    package var processorTime: Duration

    package init(_ image: Image, processorTime: Duration) {
        (frameCount, loopCount) = (image.frames.count, image.loopCount)
        (sourceSize, isPartial) = (image.sourceSize, image.isPartial)
        self.processorTime = processorTime
    }
}

extension ResultDescription: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(frameCount)
        writer.append(optional: loopCount) { $0.append($1) }
        writer.append(sourceSize.width)
        writer.append(sourceSize.height)
        writer.append(isPartial)
        writer.append(processorTime)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        frameCount = try reader.integer()
        loopCount = try reader.optional { reader throws(WireError) in try reader.integer(Int.self) }
        sourceSize = PixelSize(width: try reader.integer(), height: try reader.integer())
        isPartial = try reader.boolean()
        processorTime = try reader.duration()
        guard (1...ResultLayout.maximumFrameCount).contains(frameCount), loopCount ?? 0 >= 0, sourceSize.width > 0,
            sourceSize.height > 0, sourceSize.width <= 1 << 32, sourceSize.height <= 1 << 32,
            processorTime >= .zero
        else { throw .unknownCase(type: "ResultDescription", value: UInt64(bitPattern: Int64(frameCount))) }
    }
}
