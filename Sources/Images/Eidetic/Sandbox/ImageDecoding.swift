package import EideticCodecs
package import EideticCore
import EideticSandbox

/// A process that reads encoded images: this one, or one of the sandbox.
package protocol ImageDecoding {
    /// A Boolean value indicating whether the bytes are read in the sandbox.
    var isSandboxed: Bool { get }

    /// Parses the header of an image, as `ImageDecoder.header(of:isComplete:)` does.
    func header(of bytes: [UInt8], isComplete: Bool) throws(EideticError) -> ImageHeader?

    /// Decodes an image, as `ImageDecoder.decode` does.
    func render(_ bytes: [UInt8], options: DecodeOptions) throws(EideticError) -> Rendition

    /// Opens an animation that is decoded frame by frame; `nil` if there is none, or its first frame has not arrived.
    func openAnimation(
        _ bytes: [UInt8],
        isComplete: Bool,
        options: DecodeOptions,
        transform: (any ImageTransform)?
    ) throws(EideticError) -> OpenedAnimation?

    /// Reads the metadata of an image, as `ImageMetadata.init(of:)` does.
    func metadata(of bytes: [UInt8]) throws(EideticError) -> ImageMetadata

    /// Throws the errors of a decode that the header alone causes.
    func check(_ bytes: [UInt8], options: DecodeOptions) throws(EideticError)

    /// Checks an image, and returns one that is decoded on first use.
    func makeDeferredImage(
        from bytes: [UInt8],
        options: DecodeOptions,
        decode: @escaping DeferredImage.DecodeFunction,
        decodeShared: @escaping DeferredImage.SharedDecodeFunction
    ) throws(EideticError) -> (image: Image, header: ImageHeader)
}

/// A decoded and transformed image, and the steps that made it.
package struct Rendition: Sendable {
    package var image: Image
    /// The number of frames in the file; `nil` if it is not known.
    var frameCount: Int?
    /// A Boolean value indicating whether the image was decoded in the sandbox.
    var isSandboxed = false
    var steps: [LoadTrace.Step] = []
    /// The processor time of the decode and the transform; zero if it was not measured.
    var makingTime = Duration.zero
}

/// A decoder of single frames, and the first one.
package struct OpenedAnimation {
    let source: any FrameSource
    let poster: PixelBuffer
}

/// The decoders of this process.
struct LocalDecoding: ImageDecoding {
    let limits: DecodeLimits
    /// Cancels the work; without one the thread does not wait for memory.
    let context: JobContext?

    var isSandboxed: Bool { false }

    func header(of bytes: [UInt8], isComplete: Bool) throws(EideticError) -> ImageHeader? {
        try ImageDecoder.header(of: bytes, isComplete: isComplete)
    }

    func render(_ bytes: [UInt8], options: DecodeOptions) throws(EideticError) -> Rendition {
        guard let context else {
            return Rendition(image: try ImageDecoder.decode(bytes, options: options, limits: limits))
        }
        return Rendition(image: try ImageDecoder.decode(bytes, options: options, limits: limits, context: context))
    }

    func openAnimation(
        _ bytes: [UInt8],
        isComplete: Bool,
        options: DecodeOptions,
        transform: (any ImageTransform)?
    ) throws(EideticError) -> OpenedAnimation? {
        let source = try AnimationDecoder(
            bytes,
            isComplete: isComplete,
            options: options,
            transform: transform,
            maximumCopyBytes: AnimatedImage.standardWindow.bytes,
            limits: limits,
            waitsForMemory: context != nil,
            context: context ?? JobContext()
        )
        guard let source else { return nil }
        return OpenedAnimation(source: source, poster: try source.firstFrame(context: context ?? JobContext()))
    }

    func metadata(of bytes: [UInt8]) throws(EideticError) -> ImageMetadata { try ImageMetadata(of: bytes) }

    func check(_ bytes: [UInt8], options: DecodeOptions) throws(EideticError) {
        _ = try ImageDecoder.workingMemory(for: bytes, options: options, limits: limits)
    }

    func makeDeferredImage(
        from bytes: [UInt8],
        options: DecodeOptions,
        decode: @escaping DeferredImage.DecodeFunction,
        decodeShared: @escaping DeferredImage.SharedDecodeFunction
    ) throws(EideticError) -> (image: Image, header: ImageHeader) {
        try ImageDecoder.makeDeferredImage(
            from: bytes,
            options: options,
            limits: limits,
            decode: decode,
            decodeShared: decodeShared
        )
    }
}

/// The processes of the sandbox.
struct SandboxDecoding: ImageDecoding {
    let limits: DecodeLimits
    /// Cancels the work.
    let context: JobContext?
    let pool: HelperPool
    /// The pool of the calling thread, whose other jobs do not wait for a slow image.
    let threads: WorkPool?

    var isSandboxed: Bool { true }

    func header(of bytes: [UInt8], isComplete: Bool) throws(EideticError) -> ImageHeader? {
        try pool.header(of: bytes, isComplete: isComplete, limits: limits, context: context, pausing: threads)
    }

    func render(_ bytes: [UInt8], options: DecodeOptions) throws(EideticError) -> Rendition {
        let result = try pool.decode(bytes, options: options, limits: limits, context: context, pausing: threads)
        return Rendition(image: result.image, frameCount: result.header.frameCount, isSandboxed: true)
    }

    func openAnimation(
        _ bytes: [UInt8],
        isComplete: Bool,
        options: DecodeOptions,
        transform: (any ImageTransform)?
    ) throws(EideticError) -> OpenedAnimation? {
        let source = try SandboxedAnimation(
            bytes,
            isComplete: isComplete,
            options: options,
            transform: transform,
            maximumCopyBytes: AnimatedImage.standardWindow.bytes,
            limits: limits,
            pool: pool,
            context: context,
            pausing: threads
        )
        guard let source else { return nil }
        return OpenedAnimation(source: source, poster: try source.firstFrame(context: context))
    }

    func metadata(of bytes: [UInt8]) throws(EideticError) -> ImageMetadata { try pool.metadata(of: bytes) }

    func check(_ bytes: [UInt8], options: DecodeOptions) throws(EideticError) {
        _ = try pool.probe(bytes, options: options, limits: limits, context: context, pausing: threads)
    }

    func makeDeferredImage(
        from bytes: [UInt8],
        options: DecodeOptions,
        decode: @escaping DeferredImage.DecodeFunction,
        decodeShared: @escaping DeferredImage.SharedDecodeFunction
    ) throws(EideticError) -> (image: Image, header: ImageHeader) {
        let probe = try pool.probe(bytes, options: options, limits: limits, context: context, pausing: threads)
        let image = ImageDecoder.makeDeferredImage(
            size: probe.size,
            header: probe.header,
            options: options,
            decode: decode,
            decodeShared: decodeShared
        )
        return (image: image, header: probe.header)
    }
}
