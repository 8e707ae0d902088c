package import EideticCodecs
package import EideticCore
import EideticSandbox

/// The limits and the threads of decodes, and the processes of the sandbox.
package struct DecodeHost: Sendable {
    var limits = DecodeLimits.standard
    let sandbox = HelperPool.shared
    /// The pool of the threads that decode, whose other jobs do not wait for a slow image.
    var threads: WorkPool?

    package init(threads: WorkPool? = nil) { self.threads = threads }
}

/// The one place that decides whether encoded bytes are read in this process or in another one.
extension DecodePolicy {
    /// Reads bytes in the process that the policy names.
    ///
    /// - Parameters:
    ///   - bytes: The beginning of the image; a format of the application's own is decoded in this process.
    ///   - host: The limits, threads and processes.
    ///   - context: Cancels the work; without one the thread belongs to the caller, and does not wait for memory.
    ///   - body: Reads the bytes.
    /// - Returns: The result of `body`.
    /// - Throws: The errors of `body`; `sandboxUnavailable` if the policy does not allow this process instead for this
    ///   format.
    package func read<Value>(
        _ bytes: [UInt8],
        in host: DecodeHost = DecodeHost(),
        context: JobContext? = nil,
        body: (ImageDecoding) throws(EideticError) -> Value
    ) throws(EideticError) -> Value {
        let local = ImageDecoding(isSandboxed: false, host: host, context: context)
        guard usesSandbox(for: bytes) else { return try body(local) }
        do throws(EideticError) {
            let value = try body(ImageDecoding(isSandboxed: true, host: host, context: context))
            DecodeSandbox.reportStatus(of: host.sandbox)
            return value
        } catch {
            guard error.code == .sandboxUnavailable else { throw error }
            guard allowsFallback(for: bytes, in: host.sandbox) else { throw Self.unavailable(error, for: bytes) }
            DecodeSandbox.reportFallback(error)
            return try body(local)
        }
    }

    /// Returns whether bytes may be read in this process because no process could be started.
    private func allowsFallback(for bytes: [UInt8], in pool: HelperPool) -> Bool {
        switch kind {
        case .sandboxedIfAvailable: true
        case .automatic, .automaticRemote: !Self.isIsolated(bytes) && pool.isMissing(for: bytes)
        default: false
        }
    }

    /// Returns whether bytes are of a format that is decoded in this process by the application's word alone.
    private static func isIsolated(_ bytes: [UInt8]) -> Bool {
        guard case .format(let format) = ImageFormat.detect(in: bytes) else { return false }
        return ImageDecoder.loadedFormats.contains(format)
    }

    /// Returns the error of bytes that are not decoded without the sandbox.
    private static func unavailable(_ error: EideticError, for bytes: [UInt8]) -> EideticError {
        guard case .format(let format) = ImageFormat.detect(in: bytes), isIsolated(bytes) else { return error }
        let remedy = "\(format) is decoded in the application only with the decode policy inProcess"
        return EideticError(.sandboxUnavailable, message: "\(error.message); \(remedy)")
    }

    /// A Boolean value indicating whether images are decoded in the sandbox, if there is one.
    package var isSandboxed: Bool {
        switch kind {
        case .sandboxed, .sandboxedIfAvailable, .automaticRemote: true
        case .automatic, .automaticLocal, .inProcess: false
        }
    }

    /// Returns the policy of an image whose origin is known.
    package func resolved(isFromNetwork: Bool) -> DecodePolicy {
        guard kind == .automatic else { return self }
        return DecodePolicy(kind: isFromNetwork ? .automaticRemote : .automaticLocal)
    }

    /// Returns whether these bytes are read in the sandbox, if there is one.
    package func usesSandbox(for bytes: [UInt8]) -> Bool {
        guard kind != .inProcess else { return false }
        guard case .format(let format) = ImageFormat.detect(in: bytes) else { return kind != .automaticLocal }
        return !ImageDecoder.isPlugin(format) && (kind != .automaticLocal || format == .svg)
    }

    /// The policy by which the header of these bytes is read, if nothing else of them is.
    ///
    /// Of ``automatic`` it is this process for formats whose headers need no library.
    func headerPolicy(for bytes: [UInt8]) -> DecodePolicy {
        guard kind == .automaticRemote, case .format(let format) = ImageFormat.detect(in: bytes),
            ImageDecoder.plainHeaderFormats.contains(format)
        else { return self }
        return .inProcess
    }

    package func header(
        of bytes: [UInt8],
        in host: DecodeHost = DecodeHost(),
        context: JobContext? = nil
    ) throws(EideticError) -> ImageHeader? {
        try read(bytes, in: host, context: context) { decoding throws(EideticError) in
            try decoding.header(of: bytes, isComplete: true)
        }
    }

    /// Decodes an image; throws the errors of `ImageDecoder.decode`, `sandboxUnavailable` and `decoderFailed`.
    package func decode(
        _ bytes: [UInt8],
        options: DecodeOptions,
        in host: DecodeHost = DecodeHost(),
        context: JobContext? = nil
    ) throws(EideticError) -> Rendition {
        try read(bytes, in: host, context: context) { decoding throws(EideticError) in
            try decoding.render(bytes, options: options)
        }
    }

    package func metadata(of bytes: [UInt8]) throws(EideticError) -> ImageMetadata {
        try read(bytes) { decoding throws(EideticError) in try decoding.metadata(of: bytes) }
    }
}

/// A decoded and transformed image, and the steps that made it.
package struct Rendition: Sendable {
    package var image: Image
    /// The number of frames in the file; `nil` if it is not known.
    var frameCount: Int?
    var isSandboxed = false
    /// A Boolean value indicating whether it was made from another image, so that nothing is known of the bytes.
    var isFromMemory = false
    var steps: [LoadTrace.Step] = []
    /// The processor time of the decode and the transform; zero if it was not measured.
    var makingTime = Duration.zero
}

/// A process that reads encoded images: this one, or one of the sandbox.
package struct ImageDecoding {
    let isSandboxed: Bool
    let host: DecodeHost
    /// Cancels the work; without one the thread does not wait for memory.
    let context: JobContext?

    private var limits: DecodeLimits { host.limits }
    private var pool: HelperPool { host.sandbox }
    private var threads: WorkPool? { context == nil ? nil : host.threads }

    func header(of bytes: [UInt8], isComplete: Bool) throws(EideticError) -> ImageHeader? {
        guard isSandboxed else { return try ImageDecoder.header(of: bytes, isComplete: isComplete) }
        return try pool.header(of: bytes, isComplete: isComplete, limits: limits, context: context, pausing: threads)
    }

    func render(_ bytes: [UInt8], options: DecodeOptions) throws(EideticError) -> Rendition {
        if isSandboxed {
            let result = try pool.decode(bytes, options: options, limits: limits, context: context, pausing: threads)
            return Rendition(image: result.image, frameCount: result.header.frameCount, isSandboxed: true)
        }
        guard let context else {
            return Rendition(image: try ImageDecoder.decode(bytes, options: options, limits: limits))
        }
        return Rendition(image: try ImageDecoder.decode(bytes, options: options, limits: limits, context: context))
    }

    /// Opens an animation that is decoded frame by frame, and decodes its first frame; `nil` if there is none, or its
    /// first frame has not arrived.
    func openAnimation(
        _ bytes: [UInt8],
        isComplete: Bool,
        options: DecodeOptions,
        transform: (any ImageTransform)?
    ) throws(EideticError) -> (source: any FrameSource, poster: PixelBuffer)? {
        if isSandboxed {
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
            return (source, try source.firstFrame(context: context))
        }
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
        return (source, try source.firstFrame(context: context ?? JobContext()))
    }

    func metadata(of bytes: [UInt8]) throws(EideticError) -> ImageMetadata {
        isSandboxed ? try pool.metadata(of: bytes) : try ImageMetadata(withPartsOf: bytes)
    }

    /// Throws the errors of a decode that the header alone causes.
    func check(_ bytes: [UInt8], options: DecodeOptions) throws(EideticError) {
        if isSandboxed {
            _ = try pool.probe(bytes, options: options, limits: limits, context: context, pausing: threads)
        } else {
            _ = try ImageDecoder.workingMemory(for: bytes, options: options, limits: limits)
        }
    }

    /// Checks an image, and returns one that is decoded on first use.
    func makeDeferredImage(
        from bytes: [UInt8],
        options: DecodeOptions,
        decode: @escaping DeferredImage.DecodeFunction,
        decodeShared: @escaping DeferredImage.SharedDecodeFunction
    ) throws(EideticError) -> (image: Image, header: ImageHeader) {
        guard isSandboxed else {
            return try ImageDecoder.makeDeferredImage(
                from: bytes,
                options: options,
                limits: limits,
                decode: decode,
                decodeShared: decodeShared
            )
        }
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
