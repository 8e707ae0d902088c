#if AVIF
import CAVIF
import EideticCore

/// AVIF images and sequences, by libavif.
///
/// Crop, rotation and mirroring belong to the format and are applied here; an EXIF orientation beside them repeats the
/// same rotation and is ignored.
enum AVIFCodec: ImageCodec {
    static var formats: [ImageFormat] { [.avif] }

    static func prepare() { eidetic_avif_prepare() }

    static func header(of input: ReceivedBytes) throws(EideticError) -> ImageHeader? {
        if HEIFItemIndex(input.bytes)?.needsHEIF == true {
            return try withHEIF { codec throws(EideticError) in
                try codec.header(of: input)
            }
        }
        do throws(AVIFFailure) {
            return try AVIFFile(
                input.bytes,
                isComplete: input.isComplete,
                maximumPixels: .max,
                maximumFrames: FrameCountLimit.maximum
            )?.makeHeader(from: input.bytes)
        } catch {
            return try withHEIFFallback(after: error) { codec throws(EideticError) in
                try codec.header(of: input)
            }
        }
    }

    static func decode(_ bytes: UnsafeRawBufferPointer, for task: DecodeTask) throws(EideticError) -> DecodedPixels {
        let limits = task.limits
        if HEIFItemIndex(bytes)?.needsHEIF == true {
            return try withHEIF { codec throws(EideticError) in try codec.decode(bytes, for: task) }
        }
        let file: AVIFFile?
        do throws(AVIFFailure) {
            file = try AVIFFile(
                bytes,
                isComplete: true,
                maximumPixels: limits.pixels,
                maximumFrames: task.decodesAllFrames ? limits.frames : FrameCountLimit.maximum
            )
        } catch {
            return try withHEIFFallback(after: error) { codec throws(EideticError) in
                try codec.decode(bytes, for: task)
            }
        }
        guard let file else { throw EideticError(.truncated, message: "avif: the file ends within its headers") }
        return try file.decode(for: task)
    }

    /// Opens a sequence of images, with the same limits as ``decode(_:for:)``.
    ///
    /// - Returns: `nil` if more bytes are needed, or the file is no sequence.
    static func openSequence(
        _ bytes: UnsafeRawBufferPointer,
        isComplete: Bool,
        limits: DecodeLimits
    ) throws(EideticError) -> AVIFFile? {
        guard bytes.box("moov") != nil else { return nil }
        do throws(AVIFFailure) {
            return try AVIFFile(
                bytes,
                isComplete: isComplete,
                maximumPixels: limits.pixels,
                maximumFrames: limits.frames
            )
        } catch {
            throw error.error
        }
    }

    /// Calls `body` with libheif, for an image that libavif would not make from others, or not in this order.
    ///
    /// - Throws: `unsupportedFormat` if libheif is not part of the build.
    private static func withHEIF<Result>(
        body: (any ImageCodec.Type) throws(EideticError) -> Result
    ) throws(EideticError) -> Result {
        #if HEIF
        return try body(HEICCodec.self)
        #else
        let message = "avif: an image that is made from others in this way needs the trait HEIF"
        throw EideticError(.unsupportedFormat, message: message)
        #endif
    }

    /// Calls `body` with libheif, if it is part of the build, after libavif has refused a grid: for example one that
    /// uses a tile twice.
    ///
    /// libheif is not the first choice because it takes two to eight times as long (docs/decisions/0023).
    private static func withHEIFFallback<Result>(
        after failure: AVIFFailure,
        body: (any ImageCodec.Type) throws(EideticError) -> Result
    ) throws(EideticError) -> Result {
        #if HEIF
        guard failure.isInvalidGrid else { throw failure.error }
        do throws(EideticError) {
            return try body(HEICCodec.self)
        } catch let second {
            throw second.code == .cancelled || second.code == .limitExceeded ? second : failure.error
        }
        #else
        throw failure.error
        #endif
    }

    /// The frames at the target size, one frame at full size, with 16 bits per channel too, a copy to rotate, the
    /// planes of the image and its tiles, a copy of the file if it has foreign tracks, and for the alphas of tiles
    /// another copy, their planes and their brightness.
    static func workingMemory(decoding bytes: UnsafeRawBufferPointer, for task: DecodeTask) -> Int {
        let hasTileAlpha = HEIFItemIndex(bytes)?.alphaTiles != nil
        let copies = bytes.count * ((AVIFForeignBoxes.needsCopy(bytes) ? 1 : 0) + (hasTileAlpha ? 1 : 0))
        let canvasCount = (HEIFItems(bytes)?.isDeep == true ? 8 : 6) + (hasTileAlpha ? 3 : 0)
        let (sum, overflow) = task.estimatedMemory(canvasCount: canvasCount).addingReportingOverflow(copies)
        return overflow ? .max : sum
    }
}
#endif
