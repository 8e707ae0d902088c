import EideticCore

/// PNG by libpng; animations (APNG) by splitting them into single pictures, which libpng does not know.
enum PNGCodec: ImageCodec {
    static let formats: [ImageFormat] = [.png]

    /// Rows between two questions whether to go on.
    private static let batch = 32

    /// The largest colour profile; real ones have at most 4 MB.
    static let profileLimit = 16 << 20

    static func header(
        _ bytes: UnsafeRawBufferPointer,
        isComplete: Bool,
        format: ImageFormat
    ) throws(EideticError) -> ImageHeader? {
        let structure = try PNGStructure(bytes)
        guard !structure.isApple else {
            throw EideticError(.unsupportedFormat, "PNG: Apple's own variant (CgBI), which no other program reads")
        }
        guard structure.hasHeader else {
            guard isComplete else { return nil }
            throw structure.isComplete
                ? EideticError(.corrupt, "PNG: has no pixels")
                : EideticError(.truncated, "PNG: ends after \(bytes.count) bytes, before the pixels")
        }
        let frames = structure.frames
        return ImageHeader(
            format: .png,
            size: structure.size,
            orientation: structure.orientation,
            hasAlpha: structure.hasAlpha,
            frameCount: max(1, frames.count),
            loopCount: frames.isEmpty ? 1 : structure.loopCount,
            durations: frames.map(\.duration)
        )
    }

    static func decode(_ bytes: UnsafeRawBufferPointer, _ task: DecodeTask) throws(EideticError) -> CodecPicture {
        let structure = try PNGStructure(bytes)
        let profile = structure.compressedProfile.flatMap { ZlibStream.inflate($0, limit: profileLimit) }
        if task.allFrames, structure.frames.count > 1 {
            var picture = try APNG.decode(structure, task)
            picture.iccProfile = profile
            return picture
        }
        let rows = PNGRows(structure, size: structure.size, data: structure.data)
        if structure.isComplete, let pixels = try rows?.decode(task) {
            return CodecPicture(pixels, iccProfile: profile)
        }
        let (pixels, damage) = try still(bytes, size: task.header.size, hasAlpha: structure.hasAlpha, task)
        return CodecPicture(pixels, iccProfile: profile, isPartial: damage != nil)
    }

    /// The frames at the wanted size, and three canvases.
    static func workingMemory(_ bytes: UnsafeRawBufferPointer, _ task: DecodeTask) -> Int { task.memory(canvases: 3) }

    /// Decodes one picture by libpng; gives the pixels, and what was wrong with them where the task accepts that.
    ///
    /// A chunk's checksum may be wrong where the one of the pixels is right: then the pixels are.
    static func still(
        _ bytes: UnsafeRawBufferPointer,
        size: PixelSize,
        hasAlpha: Bool,
        trustsAdler: Bool = false,
        _ task: DecodeTask
    ) throws(EideticError) -> (PixelBuffer, damage: EideticError?) {
        let decoder = try PNGDecoder(bytes)
        let (stored, passes) = try decoder.start(trustsAdler: trustsAdler)
        guard stored == size else { throw EideticError(.corrupt, "PNG: two sizes, \(size) and \(stored)") }
        var damage: EideticError?
        var isMistrusted = false
        // What is missing of a partial picture is transparent.
        let alpha: PixelBuffer.Alpha = hasAlpha || task.acceptsPartial ? .straight : .opaque
        let pixels = try PixelBuffer(size: size, alpha: alpha) { memory, stride throws(EideticError) in
            if task.acceptsPartial { memory.initializeMemory(as: UInt8.self, repeating: 0) }
            do throws(EideticError) {
                for _ in 0..<passes { try readRows(decoder, memory, stride, size.height, task) }
                try decoder.finish()
            } catch {
                if decoder.hasBadChecksum, !trustsAdler { isMistrusted = true; return }
                guard task.acceptsPartial, [.truncated, .corrupt].contains(error.code) else { throw error }
                damage = error
            }
        }
        return isMistrusted
            ? try still(bytes, size: size, hasAlpha: hasAlpha, trustsAdler: true, task) : (pixels, damage)
    }

    private static func readRows(
        _ decoder: borrowing PNGDecoder,
        _ memory: UnsafeMutableRawBufferPointer,
        _ stride: Int,
        _ height: Int,
        _ task: DecodeTask
    ) throws(EideticError) {
        guard let base = memory.baseAddress else { return }
        var row = 0
        while row < height {
            try task.checkpoint()
            let count = min(batch, height - row)
            try decoder.readRows(base + row * stride, stride, count)
            row += count
        }
    }
}
