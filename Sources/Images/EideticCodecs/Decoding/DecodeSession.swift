package import EideticCore

/// One decode in two steps: its header is parsed, and its limits are checked, before its pixels are decoded.
///
/// Blocks until a library returns: for a process that decodes one image at a time, and that can be ended.
package final class DecodeSession {
    let plan: DecodePlan
    private let options: DecodeOptions

    /// Parses the header and checks the limits; allocates no pixels.
    ///
    /// - Parameters:
    ///   - bytes: The encoded image, which must stay valid and unchanged as long as the session exists.
    ///   - options: The target size, the frames and the conversions.
    ///   - limits: The maximum resources of the decode.
    ///   - context: The context by which the decode is cancelled.
    /// - Throws: The errors of `ImageDecoder.decode` that the header alone causes.
    package init(
        bytes: UnsafeRawBufferPointer,
        options: DecodeOptions,
        limits: DecodeLimits,
        context: JobContext = JobContext()
    ) throws(EideticError) {
        self.options = options
        plan = try DecodePlan(bytes: bytes, options: options, limits: limits, context: context)
    }

    package var header: ImageHeader { plan.header }

    /// The peak memory of the decode in bytes.
    package var workingMemory: Int { plan.workingMemory }

    /// The memory that an incremental decoder keeps from one preview to the next, in bytes.
    package var feedMemory: Int { plan.feedMemory }

    /// The size of the frames that ``decode()`` returns.
    package var resultSize: PixelSize { plan.resultSize }

    /// The maximum number of frames that ``decode()`` returns.
    package var maximumFrameCount: Int { options.frames == .all ? max(1, plan.header.frameCount) : 1 }

    /// Decodes the image.
    ///
    /// - Throws: The errors of `ImageDecoder.decode`.
    package func decode() throws(EideticError) -> Image { try plan.decode() }
}

extension ImageDecoder {
    /// The formats whose libraries are loaded when they are first used.
    package static let loadedFormats: Set<ImageFormat> = [.avif, .heic, .jpegxl, .svg]

    /// The formats whose headers are read without a library, by code that checks each access.
    package static let plainHeaderFormats: Set<ImageFormat> = [.bmp, .gif, .ico, .jpeg, .png]

    package static func hasDecoder(for format: ImageFormat) -> Bool {
        CodecRegistry.all.contains { $0.formats.contains(format) }
    }

    /// Loads the libraries of some ``loadedFormats``, for a process that cannot open files later.
    package static func prepareLibraries(for formats: Set<ImageFormat>) -> [ImageFormat] {
        // Some grids of AVIF are decoded by the library of HEIC.
        let needed = formats.contains(.avif) ? formats.union([.heic]) : formats
        let codecs = CodecRegistry.all.filter { codec in
            codec.formats.allSatisfy { !loadedFormats.contains($0) || needed.contains($0) }
        }
        for codec in codecs { codec.prepare() }
        RowBands.prepare()
        return codecs.flatMap { $0.formats }
    }

    /// Returns an image that is decoded on first use, for a header that another process has parsed.
    package static func makeDeferredImage(
        size: PixelSize,
        header: ImageHeader,
        options: DecodeOptions,
        decode: @escaping DeferredImage.DecodeFunction,
        decodeShared: @escaping DeferredImage.SharedDecodeFunction
    ) -> Image {
        Image(
            deferred: DeferredImage(size: size, decode: decode, decodeShared: decodeShared),
            loopCount: header.loopCount,
            format: header.format,
            sourceSize: options.appliesOrientation ? header.uprightSize : header.size,
            scale: options.scale
        )
    }
}
