import CBitmap
import EideticCore

/// Windows icons and cursors (ICO, CUR).
///
/// The header is that of the largest image; the smallest one that covers the target size is decoded.
enum ICOCodec: ImageCodec {
    static var formats: [ImageFormat] { [.ico] }

    static func header(of input: ReceivedBytes) throws(EideticError) -> ImageHeader? {
        guard let entry = try ICODirectory(input.bytes)?.largest?.image(in: input.bytes) else {
            return try Self.requestMoreBytes(isComplete: input.isComplete)
        }
        return try header(of: entry, isComplete: input.isComplete)
    }

    private static func header(
        of entry: UnsafeRawBufferPointer,
        isComplete: Bool
    ) throws(EideticError) -> ImageHeader? {
        if isPNG(entry) {
            guard
                let header = try PNGCodec.header(of: ReceivedBytes(bytes: entry, isComplete: isComplete, format: .png))
            else { return nil }
            return ImageHeader(format: .ico, size: header.size, hasAlpha: header.hasAlpha)
        }
        guard entry.count >= 8, let header = try BMPHeader.parseIcon(entry) else {
            return try requestMoreBytes(isComplete: isComplete)
        }
        return ImageHeader(format: .ico, size: header.size, hasAlpha: true)
    }

    static func decode(_ bytes: UnsafeRawBufferPointer, for task: DecodeTask) throws(EideticError) -> DecodedPixels {
        guard let entry = try image(in: bytes, for: task) else { throw truncationError }
        guard !isPNG(entry) else { return try decodePNG(entry, for: task) }
        guard let header = try BMPHeader.parseIcon(entry) else { throw truncationError }
        var decoder = BMPDecoder(header: header, bytes: entry, task: task)
        let pixels = try decoder.decode(alpha: .straight) { [decoder] canvas throws(EideticError) in
            // If all alpha is 0, the icon predates alpha channels and relies on its mask.
            if !header.hasAlpha || canvas.isTransparent { decoder.applyMask(to: canvas) }
        }
        return DecodedPixels(pixels, colourSpace: decoder.colourSpace, isPartial: decoder.isPartial)
    }

    private static func decodePNG(
        _ entry: UnsafeRawBufferPointer,
        for task: DecodeTask
    ) throws(EideticError) -> DecodedPixels {
        guard let header = try PNGCodec.header(of: ReceivedBytes(bytes: entry, isComplete: true, format: .png)) else {
            throw truncationError
        }
        let pngTask = DecodeTask(
            header: header,
            targetSize: task.targetSize,
            decodesAllFrames: false,
            acceptsPartial: task.acceptsPartial,
            convertsColours: task.convertsColours,
            limits: task.limits,
            context: task.context,
            deadline: task.deadline
        )
        return try PNGCodec.decode(entry, for: pngTask)
    }

    private static var truncationError: EideticError {
        EideticError(.truncated, message: "ICO: the file ends within its headers")
    }

    /// Returns `nil` to request more bytes; throws if the file is complete.
    private static func requestMoreBytes(isComplete: Bool) throws(EideticError) -> ImageHeader? {
        guard isComplete else { return nil }
        throw truncationError
    }

    /// Returns the bytes from the image to decode on; `nil` if they are missing.
    private static func image(
        in bytes: UnsafeRawBufferPointer,
        for task: DecodeTask
    ) throws(EideticError) -> UnsafeRawBufferPointer? {
        guard let directory = try ICODirectory(bytes) else { return nil }
        if let image = directory.smallest(covering: task.targetSize)?.image(in: bytes),
            // The directory may be wrong; limits were checked for the largest image.
            let size = try? header(of: image, isComplete: true)?.size, size.covers(task.targetSize),
            task.header.size.covers(size)
        {
            return image
        }
        return directory.largest?.image(in: bytes)
    }

    static func isPNG(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
    }
}

extension BMPDecoder {
    /// Makes the pixels of the mask behind the pixels transparent; an image without a mask is opaque.
    fileprivate func applyMask(to canvas: Canvas) {
        canvas.makeOpaque()
        let bytesPerMaskRow = (canvas.size.width + 31) / 32 * 4
        var start = header.pixelOffset + header.bytesPerRow * canvas.size.height
        if let profile = header.profile, profile.lowerBound == start { start = profile.upperBound }
        for index in 0..<canvas.size.height {
            let row = canvas.row(at: index)
            let offset = start + index * bytesPerMaskRow
            guard bytes.count - offset >= bytesPerMaskRow, let mask = pointer(at: offset) else { continue }
            eidetic_bitmap_apply_mask(row, mask, canvas.size.width)
        }
    }
}
