import EideticCodecs
import EideticCore

/// The positions of the frames in an animation, found independently of the decoders.
enum FrameEnds {
    /// One frame of a GIF.
    struct GIFFrame {
        /// The position behind the frame's header, where its pixels begin.
        var pixels: Int
        /// The position behind its last byte of pixels.
        var lastPixel: Int
        /// The position behind the frame.
        var end: Int
    }

    /// Returns the frames of an intact GIF.
    static func gif(_ bytes: [UInt8]) -> [GIFFrame] {
        func tableSize(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 6 << Int(flags & 7) }
        func skipSubBlocks(from start: Int) -> Int {
            var position = start
            while bytes[position] != 0 { position += Int(bytes[position]) + 1 }
            return position
        }
        var position = 13 + tableSize(bytes[10]), frames: [GIFFrame] = []
        while bytes[position] != 0x3b {
            if bytes[position] == 0x21 {
                position = skipSubBlocks(from: position + 2) + 1
                continue
            }
            let pixels = position + 11 + tableSize(bytes[position + 9]), end = skipSubBlocks(from: pixels)
            frames.append(GIFFrame(pixels: pixels, lastPixel: end, end: end + 1))
            position = end + 1
        }
        return frames
    }

    /// Returns the number of bytes from which on a decoder can tell that the first frame is complete.
    static func first(in bytes: [UInt8], of format: ImageFormat) -> Int? {
        switch format {
        case .gif: return gif(bytes).first?.end
        case .png:
            // The name of the chunk behind the pixels.
            let controls = bytes.indices.filter { bytes[$0...].starts(with: "fcTL".utf8) }
            return controls.count > 1 ? controls[1] + 4 : nil
        case .webp:
            guard let start = bytes.indices.first(where: { bytes[$0...].starts(with: "ANMF".utf8) }) else { return nil }
            let length = (0..<4).reduce(0) { $0 | Int(bytes[start + 4 + $1]) << (8 * $1) }
            return start + 8 + length
        default: return nil
        }
    }
}
