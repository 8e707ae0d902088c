import CDeflate
import EideticCore

/// A decoder for animated PNG.
///
/// - SeeAlso: PNG (third edition), section 4.9.
enum APNGDecoder {
    /// Decodes and composes all frames.
    static func decode(_ structure: PNGStructure, for task: DecodeTask) throws(EideticError) -> DecodedPixels {
        var canvas = try AnimationCanvas(size: structure.size)
        var frames: [Image.Frame] = []
        var damage: EideticError?
        for frame in structure.frames where damage == nil {
            do throws(EideticError) {
                let pixels = try decodeFrame(frame, of: structure, for: task)
                try canvas.draw(pixels, at: frame.area, blends: frame.blends, disposal: frame.disposal)
                let snapshot = try canvas.snapshot(for: task, hasAlpha: true)
                frames.append(Image.Frame(pixels: snapshot, duration: frame.duration.clampedForPlayback))
            } catch {
                damage = try task.damage(error, keeps: !frames.isEmpty)
            }
        }
        if damage == nil, !structure.isComplete {
            damage = EideticError(
                .truncated,
                message: "PNG: the file ends after \(frames.count) frames, before its last chunk"
            )
            if let damage, !task.acceptsPartial { throw damage }
        }
        var decoded = DecodedPixels(frames: frames, loopCount: frames.count > 1 ? structure.loopCount : 1)
        decoded.isPartial = damage != nil
        return decoded
    }

    static func decodeFrame(
        _ frame: PNGStructure.Frame,
        of structure: PNGStructure,
        for task: DecodeTask
    ) throws(EideticError) -> PixelBuffer {
        let rows = PNGFastDecoder(structure, size: frame.area.size, data: frame.data)
        if let pixels = try rows?.decode(for: task) { return pixels }
        let file = standalonePNG(of: frame, in: structure)
        let strictTask = task.rejectingPartial
        return try file.span.withUnsafeBytes { bytes throws(EideticError) in
            try PNGCodec.decodeStill(bytes, size: frame.area.size, hasAlpha: structure.hasAlpha, for: strictTask).0
        }
    }

    /// Returns a PNG file of this frame alone.
    private static func standalonePNG(of frame: PNGStructure.Frame, in structure: PNGStructure) -> [UInt8] {
        var file: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
        let size = frame.area.size
        let kind: [UInt8] = [
            UInt8(structure.depth), UInt8(structure.colorType), 0, 0, structure.isInterlaced ? 1 : 0,
        ]
        appendChunk(
            named: "IHDR",
            parts: [bigEndianBytes(of: size.width), bigEndianBytes(of: size.height), kind],
            to: &file
        )
        if let palette = structure.palette { appendChunk(named: "PLTE", parts: [palette], to: &file) }
        if let transparency = structure.transparency { appendChunk(named: "tRNS", parts: [transparency], to: &file) }
        appendChunk(named: "IDAT", parts: frame.data, to: &file)
        appendChunk(named: "IEND", parts: [[UInt8]](), to: &file)
        return file
    }

    private static func appendChunk(named name: String, parts: [some Collection<UInt8>], to file: inout [UInt8]) {
        file += bigEndianBytes(of: parts.reduce(0) { $0 + $1.count })
        let start = file.count
        file += name.utf8
        for part in parts { file += part }
        let checksum = file[start...].withUnsafeBytes { libdeflate_crc32(0, $0.baseAddress, $0.count) }
        file += bigEndianBytes(of: Int(checksum))
    }

    private static func bigEndianBytes(of value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
