package import EideticCore

/// The places of decoded frames in shared memory: parts of one size, then a record of each frame.
package struct ResultLayout: Sendable, Hashable {
    /// The size of each frame in pixels.
    package let size: PixelSize
    /// The largest number of frames.
    package let frameCount: Int

    /// The bytes of the record of a frame: its duration in nanoseconds, its part, and the meaning of its alpha.
    package static let recordSize = 16

    /// The largest number of frames of an image, as in a list of a codec.
    package static let maximumFrameCount = 65_536

    /// Creates a layout; `nil` for sizes and numbers that no image has.
    package init?(size: PixelSize, frameCount: Int) {
        // Products of numbers within these limits do not overflow.
        guard size.width > 0, size.height > 0, size.width <= 1 << 30, size.height <= 1 << 30,
            size.pixelCount <= 1 << 44, (1...Self.maximumFrameCount).contains(frameCount)
        else { return nil }
        self.size = size
        self.frameCount = frameCount
    }

    /// The bytes of a frame.
    package var partSize: Int { 4 * size.pixelCount }
    /// The place of the first record.
    package var recordOffset: Int { partSize * frameCount }
    package var byteCount: Int { recordOffset + Self.recordSize * frameCount }
}

extension ResultLayout: WireRecord {
    package static let layout = Layout<Self>(validating: Self.init, Field(\.size), Field(\.frameCount))
}

/// A frame in shared memory, as its record describes it.
package struct FrameRecord: Sendable, Hashable {
    package var duration: Duration
    package var part: Int
    package var alpha: PixelBuffer.Alpha

    package init(duration: Duration, part: Int, alpha: PixelBuffer.Alpha) {
        self.duration = duration
        self.part = part
        self.alpha = alpha
    }

    private static let alphas: [PixelBuffer.Alpha] = [.opaque, .straight, .premultiplied]

    package func write(to memory: UnsafeMutableRawPointer) {
        memory.storeBytes(of: Int64(duration.inNanoseconds), as: Int64.self)
        memory.storeBytes(of: Int32(part), toByteOffset: 8, as: Int32.self)
        let alpha = Int32(Self.alphas.firstIndex(of: alpha) ?? 0)
        memory.storeBytes(of: alpha, toByteOffset: 12, as: Int32.self)
    }

    /// Reads a record of a process that is not trusted; `nil` if it describes no frame of `layout`.
    package init?(_ bytes: UnsafeRawBufferPointer, layout: ResultLayout) {
        guard bytes.count == ResultLayout.recordSize else { return nil }
        let duration = bytes.loadUnaligned(as: Int64.self)
        let part = Int(bytes.loadUnaligned(fromByteOffset: 8, as: Int32.self))
        let alpha = Int(bytes.loadUnaligned(fromByteOffset: 12, as: Int32.self))
        guard duration >= 0, (0..<layout.frameCount).contains(part), Self.alphas.indices.contains(alpha) else {
            return nil
        }
        self.init(duration: .nanoseconds(duration), part: part, alpha: Self.alphas[alpha])
    }
}
