import EideticCore

/// A writer of an animated PNG, which is put together from a PNG of each frame.
///
/// - SeeAlso: PNG (third edition), section 4.9.
struct APNGWriter {
    private var chunks = PNGChunkWriter()
    private var sequence = 0

    /// Returns the file of frames of one size that are encoded as PNG, all with alpha or all without.
    static func file(of frames: [(png: [UInt8], duration: Duration)], size: PixelSize, loopCount: Int?) -> [UInt8] {
        var writer = APNGWriter()
        for (index, frame) in frames.enumerated() {
            let control = fields(duration: frame.duration, size: size)
            frame.png.withUnsafeBytes { png in
                guard index == 0 else { return writer.appendFrame(PNGChunks(png), control: control) }
                let plays = loopCount.map { max(1, $0) } ?? 0
                let head = PNGChunkWriter.number(frames.count) + PNGChunkWriter.number(plays)
                writer.appendDefaultImage(PNGChunks(png), head: head, control: control)
            }
        }
        writer.chunks.append("IEND", content: [])
        return writer.chunks.bytes
    }

    /// Appends the first frame, which is the image of a decoder without animations.
    private mutating func appendDefaultImage(_ png: PNGChunks, head: [UInt8], control: [UInt8]) {
        var hasData = false
        for chunk in png where chunk.name != "IEND" {
            if chunk.name == "IDAT", !hasData {
                chunks.append("acTL", content: head)
                chunks.append("fcTL", content: nextNumber() + control)
                hasData = true
            }
            chunks.append(chunk.name, content: chunk.content)
        }
    }

    private mutating func appendFrame(_ png: PNGChunks, control: [UInt8]) {
        chunks.append("fcTL", content: nextNumber() + control)
        for chunk in png where chunk.name == "IDAT" { chunks.append("fdAT", content: nextNumber() + chunk.content) }
    }

    /// Returns the control fields of a frame that replaces the whole image.
    private static func fields(duration: Duration, size: PixelSize) -> [UInt8] {
        let milliseconds = Int(min(max(duration.inMilliseconds.rounded(), 0), 65_535_000))
        // The delay is a fraction of two numbers of 16 bits.
        let delay = milliseconds < 65_536 ? [milliseconds, 1_000] : [milliseconds / 1_000, 1]
        return [size.width, size.height, 0, 0].flatMap(PNGChunkWriter.number)
            + delay.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] } + [0, 0]
    }

    private mutating func nextNumber() -> [UInt8] {
        defer { sequence += 1 }
        return PNGChunkWriter.number(sequence)
    }
}
