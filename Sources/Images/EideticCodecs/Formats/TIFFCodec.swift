import CCodec
import CTIFF
import EideticCore

/// TIFF and BigTIFF, by libtiff; only the first page is decoded.
enum TIFFCodec: ImageCodec {
    static var formats: [ImageFormat] { [.tiff] }

    static func header(of input: ReceivedBytes) throws(EideticError) -> ImageHeader? {
        try TIFFDirectory.check(input.bytes)
        guard let file = try TIFFFile(input.bytes, isComplete: input.isComplete, memoryLimit: tagMemoryLimit) else {
            return nil
        }
        let info = file.info
        return ImageHeader(
            format: .tiff,
            size: PixelSize(width: Int(info.width), height: Int(info.height)),
            orientation: ImageOrientation(exif: Int(info.orientation)),
            hasAlpha: info.pixels == EIDETIC_TIFF_STRAIGHT || info.pixels == EIDETIC_TIFF_PREMULTIPLIED
        )
    }

    static func decode(_ bytes: UnsafeRawBufferPointer, for task: DecodeTask) throws(EideticError) -> DecodedPixels {
        guard let file = try TIFFFile(bytes, isComplete: true, memoryLimit: stripMemoryLimit(for: task)) else {
            throw EideticError(.truncated, message: "tiff: the file ends within its directory")
        }
        var isPartial = false
        let pixels = try PixelBuffer(size: task.header.size, alpha: file.alpha) { memory, stride throws(EideticError) in
            isPartial = try file.read(into: memory, stride: stride, for: task)
            memory.clampColours(for: file.alpha)
        }
        let model: DecodedPixels.ColorModel = file.info.pixels == EIDETIC_TIFF_CMYK ? .cmyk : .rgb
        return DecodedPixels(pixels, colourSpace: file.colourSpace, colorModel: model, isPartial: isPartial)
    }

    /// The image, and one strip or tile.
    static func workingMemory(decoding bytes: UnsafeRawBufferPointer, for task: DecodeTask) -> Int {
        let (memory, overflow) = task.estimatedMemory(canvasCount: 1).addingReportingOverflow(
            stripMemoryLimit(for: task)
        )
        return overflow ? .max : memory
    }

    /// Returns the maximum memory of one strip or tile: 16 bytes per pixel of the image, at least 16 MiB.
    private static func stripMemoryLimit(for task: DecodeTask) -> Int {
        let (bytes, overflow) = task.header.size.pixelCount.multipliedReportingOverflow(by: 16)
        return overflow ? tagMemoryLimit : max(bytes, tagMemoryLimit)
    }

    /// The maximum memory of one tag's values: 16 MiB.
    private static var tagMemoryLimit: Int { 16 << 20 }
}

/// An open TIFF file in memory.
private struct TIFFFile: ~Copyable {
    private let handle: OpaquePointer
    let info: eidetic_tiff_info

    /// Opens the first page; `nil` if more bytes are needed.
    init?(_ bytes: UnsafeRawBufferPointer, isComplete: Bool, memoryLimit: Int) throws(EideticError) {
        var outcome = eidetic_codec_outcome()
        var info = eidetic_tiff_info()
        let handle = eidetic_tiff_open(bytes.baseAddress, bytes.count, isComplete, memoryLimit, &info, &outcome)
        if outcome.status == EIDETIC_CODEC_NEEDS_MORE, !isComplete { return nil }
        try outcome.check(format: .tiff)
        guard let handle else { return nil }
        self.handle = handle
        self.info = info
    }

    deinit { eidetic_tiff_close(handle) }

    var alpha: PixelBuffer.Alpha {
        switch info.pixels {
        case EIDETIC_TIFF_STRAIGHT: .straight
        case EIDETIC_TIFF_PREMULTIPLIED: .premultiplied
        default: .opaque
        }
    }

    /// A pixel of the rows that a partial image lacks: black or, with alpha, transparent; without ink in CMYK.
    private var missingPixel: UInt32 {
        alpha == .opaque && info.pixels != EIDETIC_TIFF_CMYK ? UInt32(littleEndian: 0xff00_0000) : 0
    }

    var colourSpace: ColourSpace? {
        info.icc.map { .profile(Array(UnsafeBufferPointer(start: $0, count: info.icc_count))) }
    }

    /// Decodes all rows.
    ///
    /// - Returns: `true` if rows are missing and the task accepts partial images; otherwise, `false`.
    func read(
        into memory: UnsafeMutableRawBufferPointer,
        stride: Int,
        for task: DecodeTask
    ) throws(EideticError) -> Bool {
        if task.acceptsPartial { memory.initializeMemory(as: UInt32.self, repeating: missingPixel) }
        do throws(EideticError) {
            try task.withCancellationPolling(format: .tiff) { watch, outcome in
                eidetic_tiff_read(
                    handle,
                    memory.baseAddress?.assumingMemoryBound(to: UInt8.self),
                    stride,
                    watch,
                    &outcome
                )
            }
            return false
        } catch {
            guard task.acceptsPartial, error.code == .truncated else { throw error }
            return true
        }
    }
}
