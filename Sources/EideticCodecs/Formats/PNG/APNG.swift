import CDeflate
import EideticCore

/// Decodes the frames of an animated PNG.
///
/// - SeeAlso: PNG (third edition), section 4.9.
enum APNG {
    /// Decodes all frames and composes them.
    static func decode(_ structure: PNGStructure, _ task: DecodeTask) throws(EideticError) -> CodecPicture {
        var canvas = try AnimationCanvas(size: structure.size)
        var frames: [Image.Frame] = []
        var damage: EideticError?
        for frame in structure.frames where damage == nil {
            do throws(EideticError) {
                let pixels = try decode(frame, structure, task)
                try canvas.draw(pixels, at: frame.area, blends: frame.blends, disposal: frame.disposal)
                let snapshot = try canvas.snapshot(task, hasAlpha: true)
                frames.append(Image.Frame(pixels: snapshot, duration: frame.duration.asPlayed))
            } catch {
                guard task.acceptsPartial, !frames.isEmpty, [.truncated, .corrupt].contains(error.code) else {
                    throw error
                }
                damage = error
            }
        }
        if damage == nil, !structure.isComplete {
            damage = EideticError(.truncated, "PNG: ends after \(frames.count) frames, before its last chunk")
            if let damage, !task.acceptsPartial { throw damage }
        }
        var picture = CodecPicture(frames: frames, loopCount: structure.loopCount)
        picture.isPartial = damage != nil
        return picture
    }

    private static func decode(
        _ frame: PNGStructure.Frame,
        _ structure: PNGStructure,
        _ task: DecodeTask
    ) throws(EideticError) -> PixelBuffer {
        let rows = PNGRows(structure, size: frame.area.size, data: frame.data)
        if let pixels = try rows?.decode(task) { return pixels }
        let file = standalone(frame, structure)
        let strict = task.refusingPartial
        return try file.span.withUnsafeBytes { bytes throws(EideticError) in
            try PNGCodec.still(bytes, size: frame.area.size, hasAlpha: structure.hasAlpha, strict).0
        }
    }

    /// A PNG of this frame alone.
    private static func standalone(_ frame: PNGStructure.Frame, _ structure: PNGStructure) -> [UInt8] {
        var file: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
        let size = frame.area.size
        let kind: [UInt8] = [
            UInt8(structure.depth), UInt8(structure.colorType), 0, 0, structure.isInterlaced ? 1 : 0,
        ]
        append("IHDR", [big32(size.width), big32(size.height), kind], to: &file)
        if let palette = structure.palette { append("PLTE", [palette], to: &file) }
        if let transparency = structure.transparency { append("tRNS", [transparency], to: &file) }
        append("IDAT", frame.data, to: &file)
        append("IEND", [[UInt8]](), to: &file)
        return file
    }

    private static func append(_ name: String, _ parts: [some Collection<UInt8>], to file: inout [UInt8]) {
        file += big32(parts.reduce(0) { $0 + $1.count })
        let start = file.count
        file += name.utf8
        for part in parts { file += part }
        let checksum = file[start...].withUnsafeBytes { libdeflate_crc32(0, $0.baseAddress, $0.count) }
        file += big32(Int(checksum))
    }

    private static func big32(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
