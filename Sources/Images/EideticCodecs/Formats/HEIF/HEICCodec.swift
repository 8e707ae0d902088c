#if HEIF
import CCodec
import CHEIF
import EideticCore

/// HEIF images with HEVC coding (HEIC), by libheif.
///
/// Crop, rotation and mirroring belong to the format, and the library applies them; an EXIF orientation beside them
/// repeats the same rotation and is ignored.
enum HEICCodec: ImageCodec {
    static var formats: [ImageFormat] { [.heic] }

    static func prepare() { eidetic_heif_prepare() }

    static func header(of input: ReceivedBytes) throws(EideticError) -> ImageHeader? {
        do throws(EideticError) {
            return try HEICFile(input.bytes)?.header(format: input.format)
        } catch {
            // libheif needs the whole file, and does not distinguish an incomplete file from a corrupt one.
            if !input.isComplete, error.code == .corrupt || error.code == .truncated {
                return headerFromItems(of: input.bytes, format: input.format)
            }
            throw error
        }
    }

    /// Returns the header from the item properties, which precede the pixels.
    private static func headerFromItems(of bytes: UnsafeRawBufferPointer, format: ImageFormat) -> ImageHeader? {
        guard let items = HEIFItems(bytes), let size = items.size(of: items.primaryItem) else { return nil }
        return ImageHeader(format: format, size: size, hasAlpha: items.alphaItem(of: items.primaryItem) != nil)
    }

    static func decode(_ bytes: UnsafeRawBufferPointer, for task: DecodeTask) throws(EideticError) -> DecodedPixels {
        guard let file = try HEICFile(bytes) else {
            throw EideticError(.corrupt, message: "heic: the file has no primary image")
        }
        try task.checkpoint()
        return try file.decode(for: task)
    }

    /// The result, libheif's image, its planes, and the tiles of a grid, with 16 bits per channel, and a copy of the
    /// file if a part of it is hidden.
    static func workingMemory(decoding bytes: UnsafeRawBufferPointer, for task: DecodeTask) -> Int {
        let copy = HEIFItemIndex(bytes)?.editsForHEIF.isEmpty == false ? bytes.count : 0
        let canvases = task.estimatedMemory(canvasCount: HEIFItems(bytes)?.isDeep == true ? 7 : 4)
        let (sum, overflow) = canvases.addingReportingOverflow(copy)
        return overflow ? .max : sum
    }
}

/// An open HEIF file in memory.
private struct HEICFile: ~Copyable {
    private let handle: OpaquePointer
    private let info: eidetic_heif_info
    /// The bytes that the library reads, if they are not those of the file.
    private let copy: FileCopy?
    /// The meaning of the colours; `nil` for sRGB.
    private let colourSpace: ColourSpace?

    init?(_ bytes: UnsafeRawBufferPointer) throws(EideticError) {
        let items = HEIFItemIndex(bytes)
        if let items {
            guard !items.isEndless else {
                throw EideticError(
                    .corrupt,
                    message: "heic: the image is made from itself, or from others too many times"
                )
            }
            guard !items.hasMissingPart else {
                throw EideticError(.corrupt, message: "heic: the image is made from an item that is no image")
            }
            guard !items.hasOversizedCanvas else {
                throw EideticError(.corrupt, message: "heic: a canvas is larger than the image that is announced")
            }
        }
        let copy = try items.flatMap { items throws(EideticError) in
            try FileCopy.making(items.editsForHEIF, of: bytes)
        }
        var outcome = eidetic_codec_outcome()
        var info = eidetic_heif_info()
        let handle = eidetic_heif_open((copy?.bytes ?? bytes).baseAddress, bytes.count, &info, &outcome)
        try outcome.check(format: .heic)
        guard let handle else { return nil }
        self.handle = handle
        self.info = info
        self.copy = copy
        colourSpace = Self.colourSpace(of: bytes, handle: handle, info: info)
    }

    deinit { eidetic_heif_close(handle) }

    func header(format: ImageFormat) -> ImageHeader {
        ImageHeader(format: format, size: size, hasAlpha: info.has_alpha)
    }

    private var size: PixelSize { PixelSize(width: Int(info.width), height: Int(info.height)) }

    private var alpha: PixelBuffer.Alpha {
        guard info.has_alpha else { return .opaque }
        return info.is_premultiplied ? .premultiplied : .straight
    }

    func decode(for task: DecodeTask) throws(EideticError) -> DecodedPixels {
        // The library's limit is the side of a square, and includes the padding of the coded blocks.
        let maximumSide = UInt32(clamping: max(size.width, size.height) + 64)
        if info.depth > 8, alpha != .premultiplied, let converter = task.deepConverter(from: colourSpace),
            !converter.isGrey
        {
            let deep = try DeepPixels(size: size, alpha: alpha) { memory, stride throws(EideticError) in
                var outcome = eidetic_codec_outcome()
                _ = eidetic_heif_read(handle, maximumSide, true, memory.bytePointer, stride, &outcome)
                try outcome.check(format: .heic)
            }
            return DecodedPixels(try converter.convert(deep, for: task))
        }
        let pixels = try PixelBuffer(size: size, alpha: alpha) { memory, stride throws(EideticError) in
            var outcome = eidetic_codec_outcome()
            _ = eidetic_heif_read(handle, maximumSide, false, memory.bytePointer, stride, &outcome)
            try outcome.check(format: .heic)
            memory.clampColours(for: alpha)
        }
        return DecodedPixels(pixels, colourSpace: colourSpace)
    }

    /// A profile comes before code points, and those of the container before those of its video.
    private static func colourSpace(
        of bytes: UnsafeRawBufferPointer,
        handle: OpaquePointer,
        info: eidetic_heif_info
    ) -> ColourSpace? {
        var profile = [UInt8](repeating: 0, count: info.icc_count)
        if !profile.isEmpty, eidetic_heif_icc(handle, &profile) { return .profile(profile) }
        let items = HEIFItems(bytes)
        let coded = info.transfer > 0 ? nil : items?.videoConfiguration.flatMap(HEVCParameterSet.codePoints)
        return ColourSpace(
            primaries: coded?.primaries ?? Int(info.primaries),
            transfer: coded?.transfer ?? Int(info.transfer),
            peak: items?.peakLuminance
        )
    }
}
#endif
