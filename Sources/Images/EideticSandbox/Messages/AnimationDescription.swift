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

    package init(_ info: AnimationInfo) {
        (format, size, sourceSize) = (info.format, info.size, info.sourceSize)
        (loopCount, isComplete, frameCount) = (info.loopCount, info.isComplete, info.frameCount)
    }

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

extension AnimationDescription: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(format.rawValue)
        for size in [size, sourceSize] {
            writer.append(size.width)
            writer.append(size.height)
        }
        writer.append(optional: loopCount) { $0.append($1) }
        writer.append(isComplete)
        writer.append(frameCount)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        guard let format = ImageFormat(rawValue: try reader.text(limit: 32)) else {
            throw .unknownCase(type: "ImageFormat", value: 0)
        }
        self.format = format
        size = PixelSize(width: try reader.integer(), height: try reader.integer())
        sourceSize = PixelSize(width: try reader.integer(), height: try reader.integer())
        loopCount = try reader.optional { reader throws(WireError) in try reader.integer(Int.self) }
        isComplete = try reader.boolean()
        frameCount = try reader.integer()
        let sides = [size.width, size.height, sourceSize.width, sourceSize.height]
        guard sides.allSatisfy({ (1...1 << 30).contains($0) }), loopCount ?? 0 >= 0,
            (0...ResultLayout.maximumFrameCount).contains(frameCount)
        else { throw .unknownCase(type: "AnimationInfo", value: UInt64(bitPattern: Int64(frameCount))) }
    }
}

/// The resources that a kept decoder has used.
package struct DecoderUsage: Sendable, Hashable {
    /// The memory that the decoder keeps until the next request, without the encoded bytes.
    package var retainedByteCount: Int
    /// The encoded bytes that were decoded for previews; those of repeated decodes count again.
    package var decodedByteCount: Int

    package init(retainedByteCount: Int = 0, decodedByteCount: Int = 0) {
        (self.retainedByteCount, self.decodedByteCount) = (retainedByteCount, decodedByteCount)
    }
}

extension DecoderUsage: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(retainedByteCount)
        writer.append(decodedByteCount)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        retainedByteCount = try reader.integer()
        decodedByteCount = try reader.integer()
        guard retainedByteCount >= 0, decodedByteCount >= 0 else { throw .unknownCase(type: "usage", value: 0) }
    }
}
