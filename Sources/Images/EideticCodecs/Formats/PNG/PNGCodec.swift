import EideticCore

/// PNG by libpng; animations (APNG), which libpng does not support, are split into single images.
enum PNGCodec: ImageCodec {
    static let formats: [ImageFormat] = [.png]

    /// The number of rows between two checkpoints.
    private static let rowsPerCheckpoint = 32

    static func header(
        of bytes: UnsafeRawBufferPointer,
        isComplete: Bool,
        format: ImageFormat
    ) throws(EideticError) -> ImageHeader? {
        let structure = try PNGStructure(bytes)
        guard !structure.isCgBI else {
            throw EideticError(
                .unsupportedFormat,
                message: "PNG: Apple's CgBI variant is not supported"
            )
        }
        guard structure.hasHeader else {
            guard isComplete else { return nil }
            throw structure.isComplete
                ? EideticError(.corrupt, message: "PNG: the file has no pixels")
                : EideticError(.truncated, message: "PNG: the file ends after \(bytes.count) bytes, before the pixels")
        }
        let frames = structure.frames
        return ImageHeader(
            format: .png,
            size: structure.size,
            orientation: structure.orientation,
            hasAlpha: structure.hasAlpha,
            frameCount: max(1, frames.count),
            loopCount: frames.count > 1 ? structure.loopCount : 1,
            durations: frames.count > 1 ? frames.map(\.duration) : []
        )
    }

    static func decode(_ bytes: UnsafeRawBufferPointer, for task: DecodeTask) throws(EideticError) -> DecodedPixels {
        let structure = try PNGStructure(bytes)
        if structure.isOtherFrame || (task.decodesAllFrames && structure.frameCount > 1) {
            var decoded = try APNGDecoder.decode(structure, for: task)
            decoded.colourSpace = structure.colourSpace
            return decoded
        }
        let fastDecoder = PNGFastDecoder(structure, size: structure.size, data: structure.data)
        if structure.isComplete, let pixels = try fastDecoder?.decode(for: task) {
            return DecodedPixels(pixels, colourSpace: structure.colourSpace)
        }
        let (pixels, damage) = try decodeStill(bytes, size: task.header.size, hasAlpha: structure.hasAlpha, for: task)
        return DecodedPixels(pixels, colourSpace: structure.colourSpace, isPartial: damage != nil)
    }

    /// The frames at the target size, and three canvases.
    static func workingMemory(decoding bytes: UnsafeRawBufferPointer, for task: DecodeTask) -> Int {
        task.estimatedMemory(canvasCount: 3)
    }

    /// Decodes one image by libpng.
    ///
    /// If a chunk's checksum is wrong, the image is decoded again without chunk checksums, but its Adler-32 must match.
    ///
    /// - Returns: The pixels, and the error of missing or corrupt ones if the task accepts partial images.
    static func decodeStill(
        _ bytes: UnsafeRawBufferPointer,
        size: PixelSize,
        hasAlpha: Bool,
        ignoresChunkChecksums: Bool = false,
        for task: DecodeTask
    ) throws(EideticError) -> (PixelBuffer, damage: EideticError?) {
        let decoder = try PNGDecoder(bytes)
        let (stored, passes) = try decoder.start(ignoresChunkChecksums: ignoresChunkChecksums)
        guard stored == size else {
            throw EideticError(.corrupt, message: "PNG: the file declares two sizes, \(size) and \(stored)")
        }
        var damage: EideticError?
        var needsRetry = false
        // Missing pixels of a partial image are transparent.
        let alpha: PixelBuffer.Alpha = hasAlpha || task.acceptsPartial ? .straight : .opaque
        let pixels = try PixelBuffer(size: size, alpha: alpha) { memory, stride throws(EideticError) in
            if task.acceptsPartial { memory.initializeMemory(as: UInt8.self, repeating: 0) }
            do throws(EideticError) {
                for _ in 0..<passes {
                    try readRows(from: decoder, into: memory, stride: stride, height: size.height, for: task)
                }
                try decoder.finish()
            } catch {
                if decoder.hasBadChecksum, !ignoresChunkChecksums { needsRetry = true; return }
                guard task.acceptsPartial, [.truncated, .corrupt].contains(error.code) else { throw error }
                damage = error
            }
        }
        return needsRetry
            ? try decodeStill(bytes, size: size, hasAlpha: hasAlpha, ignoresChunkChecksums: true, for: task)
            : (pixels, damage)
    }

    private static func readRows(
        from decoder: borrowing PNGDecoder,
        into memory: UnsafeMutableRawBufferPointer,
        stride: Int,
        height: Int,
        for task: DecodeTask
    ) throws(EideticError) {
        guard let base = memory.baseAddress else { return }
        var row = 0
        while row < height {
            try task.checkpoint()
            let count = min(rowsPerCheckpoint, height - row)
            try decoder.readRows(into: base + row * stride, bytesPerRow: stride, count: count)
            row += count
        }
    }
}
