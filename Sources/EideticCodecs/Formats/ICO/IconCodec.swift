import CBitmap
import EideticCore

/// Windows icons and cursors; the largest picture stands for the file.
enum IconCodec: ImageCodec {
    static var formats: [ImageFormat] { [.ico] }

    static func header(
        _ bytes: UnsafeRawBufferPointer,
        isComplete: Bool,
        format: ImageFormat
    ) throws(EideticError) -> ImageHeader? {
        guard let entry = try Self.entry(bytes) else { return try Self.missing(isComplete) }
        if isPNG(entry) {
            guard
                let header = try CodecRegistry.codec(for: .png)
                    .header(entry, isComplete: isComplete, format: .png)
            else { return nil }
            return ImageHeader(format: .ico, size: header.size, hasAlpha: header.hasAlpha)
        }
        guard entry.count >= 8, let header = try BitmapHeader.icon(entry) else { return try missing(isComplete) }
        return ImageHeader(format: .ico, size: header.size, hasAlpha: true)
    }

    static func decode(_ bytes: UnsafeRawBufferPointer, _ task: DecodeTask) throws(EideticError) -> CodecPicture {
        guard let entry = try entry(bytes) else { throw truncated }
        guard !isPNG(entry) else { return try decodePNG(entry, task) }
        guard let header = try BitmapHeader.icon(entry) else { throw truncated }
        var reader = BitmapReader(header: header, bytes: entry, task: task)
        let pixels = try reader.read(alpha: .straight) { [reader] canvas throws(EideticError) in
            // Where all alpha is 0, an old writer meant the mask to be looked at.
            if !header.hasAlpha || canvas.isClear { reader.applyMask(canvas) }
        }
        return CodecPicture(pixels, isPartial: reader.isPartial)
    }

    private static func decodePNG(
        _ entry: UnsafeRawBufferPointer,
        _ task: DecodeTask
    ) throws(EideticError) -> CodecPicture {
        let codec = try CodecRegistry.codec(for: .png)
        guard let header = try codec.header(entry, isComplete: true, format: .png) else { throw truncated }
        let inner = DecodeTask(
            header: header,
            wanted: task.wanted,
            allFrames: false,
            acceptsPartial: task.acceptsPartial,
            limits: task.limits,
            context: task.context,
            deadline: task.deadline
        )
        return try codec.decode(entry, inner)
    }

    private static var truncated: EideticError { EideticError(.truncated, "the icon ends within its headers") }

    private static func missing(_ isComplete: Bool) throws(EideticError) -> ImageHeader? {
        guard isComplete else { return nil }
        throw truncated
    }

    /// The bytes from the best picture on; `nil` where the file ends before.
    private static func entry(_ bytes: UnsafeRawBufferPointer) throws(EideticError) -> UnsafeRawBufferPointer? {
        guard let best = try IconDirectory(bytes)?.best, best.offset < bytes.count else { return nil }
        // The announced length is often wrong, and nothing needs it: the picture knows its own.
        return UnsafeRawBufferPointer(rebasing: bytes[best.offset...])
    }

    private static func isPNG(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
    }
}

extension BitmapReader {
    /// Makes transparent what the mask below the picture says; a picture without one is opaque.
    fileprivate func applyMask(_ canvas: Canvas) {
        canvas.makeOpaque()
        let bytesPerMaskRow = (canvas.size.width + 31) / 32 * 4
        let start = header.pixels + header.bytesPerRow * canvas.size.height
        for index in 0..<canvas.size.height {
            let row = canvas.row(index)
            let offset = start + index * bytesPerMaskRow
            guard bytes.count - offset >= bytesPerMaskRow, let mask = pointer(offset) else { continue }
            eidetic_bitmap_mask(row, mask, canvas.size.width)
        }
    }
}
