import EideticCore

/// PNG by libpng; animations (APNG), which libpng does not support, are split into single images.
enum PNGCodec: ImageCodec {
    static let formats: [ImageFormat] = [.png]

    /// The number of rows between two checkpoints.
    private static let rowsPerCheckpoint = 32

    static func header(of input: ReceivedBytes) throws(EideticError) -> ImageHeader? {
        let structure = try PNGStructure(input.bytes)
        guard !structure.isCgBI else {
            throw EideticError(
                .unsupportedFormat,
                message: "PNG: Apple's CgBI variant is not supported"
            )
        }
        guard structure.hasHeader else {
            guard input.isComplete else { return nil }
            throw input.error(in: "PNG", without: "pixels", before: "the pixels", isWhole: structure.isComplete)
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
        let converter = deepConverter(for: structure, task: task)
        let (pixels, damage) = try decodeStill(
            bytes,
            size: task.header.size,
            hasAlpha: structure.hasAlpha,
            converter: converter,
            for: task
        )
        let colourSpace = converter == nil ? structure.colourSpace : nil
        return DecodedPixels(pixels, colourSpace: colourSpace, isPartial: damage != nil)
    }

    /// Returns the converter of an image with 16 bits per channel, unless its profile describes other channels.
    private static func deepConverter(for structure: PNGStructure, task: DecodeTask) -> ColourConverter? {
        guard structure.depth == 16, let converter = task.deepConverter(from: structure.colourSpace) else { return nil }
        return converter.isGrey && structure.colorType & 2 != 0 ? nil : converter
    }

    /// The frames at the target size, three canvases, and two for 16 bits per channel.
    static func workingMemory(decoding bytes: UnsafeRawBufferPointer, for task: DecodeTask) -> Int {
        task.estimatedMemory(canvasCount: bytes.uint8(at: depthOffset) == 16 ? 5 : 3)
    }

    /// The offset of the number of bits per channel in a file that begins with its header.
    private static let depthOffset = 24

    /// Decodes one image by libpng.
    ///
    /// If a chunk's checksum is wrong, the image is decoded again without chunk checksums, but its Adler-32 must match.
    ///
    /// With a converter, pixels of 16 bits per channel are read and converted; without one, 8 bits as stored.
    ///
    /// - Returns: The pixels, and the error of missing or corrupt ones if the task accepts partial images.
    static func decodeStill(
        _ bytes: UnsafeRawBufferPointer,
        size: PixelSize,
        hasAlpha: Bool,
        ignoresChunkChecksums: Bool = false,
        converter: ColourConverter? = nil,
        for task: DecodeTask
    ) throws(EideticError) -> (PixelBuffer, damage: EideticError?) {
        let decoder = try PNGDecoder(bytes)
        let (stored, passes) = try decoder.start(
            ignoresChunkChecksums: ignoresChunkChecksums,
            acceptsPartial: task.acceptsPartial,
            isDeep: converter != nil
        )
        guard stored == size else {
            throw EideticError(.corrupt, message: "PNG: the file declares two sizes, \(size) and \(stored)")
        }
        var damage: EideticError?
        var needsRetry = false
        // Missing pixels of a partial image are transparent.
        let alpha: PixelBuffer.Alpha = hasAlpha || task.acceptsPartial ? .straight : .opaque
        func read(into memory: UnsafeMutableRawBufferPointer, stride: Int) throws(EideticError) {
            if task.acceptsPartial { memory.initializeMemory(as: UInt8.self, repeating: 0) }
            do throws(EideticError) {
                for _ in 0..<passes {
                    try readRows(from: decoder, into: memory, stride: stride, height: size.height, for: task)
                }
                try decoder.finish()
            } catch {
                if decoder.hasBadChecksum, !ignoresChunkChecksums { needsRetry = true; return }
                damage = try task.damage(error)
            }
        }
        let pixels: PixelBuffer
        if let converter {
            let deep = try DeepPixels(size: size, alpha: alpha, fill: read)
            pixels = try converter.convert(deep, for: task)
        } else {
            pixels = try PixelBuffer(size: size, alpha: alpha, fill: read)
        }
        guard needsRetry else { return (pixels, damage) }
        return try decodeStill(
            bytes,
            size: size,
            hasAlpha: hasAlpha,
            ignoresChunkChecksums: true,
            converter: converter,
            for: task
        )
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
