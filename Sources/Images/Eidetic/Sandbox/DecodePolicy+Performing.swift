package import EideticCodecs
package import EideticCore
package import EideticSandbox

/// The one place that decides whether encoded bytes are read in this process or in another one.
extension DecodePolicy {
    /// The result of a decode.
    package struct Decoded: Sendable {
        package let image: Image
        /// The number of frames in the file; `nil` if it is not known.
        package var frameCount: Int?
        /// A Boolean value indicating whether the image was decoded in the sandbox.
        package var isSandboxed = false

        /// The end of a line of a trace.
        package var note: String { Self.note(isSandboxed: isSandboxed) }

        static func note(isSandboxed: Bool) -> String { isSandboxed ? ", in the sandbox" : "" }

        /// The note of an image that was to be decoded in the sandbox, which is missing.
        static let fallbackNote = ", without the sandbox"
    }

    /// Calls one of two functions.
    ///
    /// - Parameters:
    ///   - bytes: The beginning of the image; a format of the application's own is decoded in this process.
    ///   - pool: The processes.
    ///   - inProcess: Reads the bytes in this process.
    ///   - sandboxed: Reads the bytes in another one.
    /// - Returns: What the function returns.
    /// - Throws: The errors of the functions; `sandboxUnavailable` if the policy does not allow this process instead
    ///   for this format.
    package func perform<Value>(
        reading bytes: [UInt8],
        in pool: HelperPool = .shared,
        inProcess: () throws(EideticError) -> Value,
        sandboxed: (HelperPool) throws(EideticError) -> Value
    ) throws(EideticError) -> Value {
        guard usesSandbox(for: bytes) else { return try inProcess() }
        do throws(EideticError) {
            let value = try sandboxed(pool)
            DecodeSandbox.reportStatus(of: pool)
            return value
        } catch {
            guard error.code == .sandboxUnavailable else { throw error }
            guard allowsFallback(for: bytes, in: pool) else { throw Self.unavailable(error, for: bytes) }
            DecodeSandbox.reportFallback(error)
            return try inProcess()
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

    /// Parses the header of an image, as `ImageDecoder.header(of:isComplete:)` does.
    package func header(
        of bytes: [UInt8],
        isComplete: Bool = true,
        limits: DecodeLimits = .standard,
        context: JobContext? = nil,
        in pool: HelperPool = .shared,
        pausing threads: WorkPool? = nil
    ) throws(EideticError) -> ImageHeader? {
        try perform(reading: bytes, in: pool) { () throws(EideticError) in
            try ImageDecoder.header(of: bytes, isComplete: isComplete)
        } sandboxed: { pool throws(EideticError) in
            try pool.header(
                of: bytes,
                isComplete: isComplete,
                limits: limits,
                context: context,
                pausing: threads
            )
        }
    }

    /// Decodes an image, as `ImageDecoder.decode` does.
    ///
    /// - Parameters:
    ///   - bytes: The encoded image.
    ///   - options: The target size, the frames and the conversions.
    ///   - limits: The maximum resources of the decode.
    ///   - context: Cancels the decode; without one the thread does not wait for memory.
    ///   - pool: The processes.
    ///   - threads: The pool of the calling thread, whose other jobs do not wait for a slow image.
    /// - Returns: The image, and where it was decoded.
    /// - Throws: The errors of `ImageDecoder.decode`, `sandboxUnavailable` and `decoderFailed`.
    package func decode(
        _ bytes: [UInt8],
        options: DecodeOptions,
        limits: DecodeLimits = .standard,
        context: JobContext? = nil,
        in pool: HelperPool = .shared,
        pausing threads: WorkPool? = nil
    ) throws(EideticError) -> Decoded {
        try perform(reading: bytes, in: pool) { () throws(EideticError) in
            guard let context else {
                return Decoded(image: try ImageDecoder.decode(bytes, options: options, limits: limits))
            }
            let image = try ImageDecoder.decode(bytes, options: options, limits: limits, context: context)
            return Decoded(image: image)
        } sandboxed: { pool throws(EideticError) in
            let result = try pool.decode(bytes, options: options, limits: limits, context: context, pausing: threads)
            return Decoded(image: result.image, frameCount: result.header.frameCount, isSandboxed: true)
        }
    }

    /// Reads the metadata of an image, as `ImageMetadata.init(of:)` does.
    package func metadata(of bytes: [UInt8], in pool: HelperPool = .shared) throws(EideticError) -> ImageMetadata {
        try perform(reading: bytes, in: pool) { () throws(EideticError) in
            try ImageMetadata(of: bytes)
        } sandboxed: { pool throws(EideticError) in
            try pool.metadata(of: bytes)
        }
    }

    /// Checks an image as far as its header allows, as `ImageDecoder.workingMemory(for:options:limits:)` does.
    ///
    /// - Returns: The peak memory of the decode in bytes.
    package func workingMemory(
        for bytes: [UInt8],
        options: DecodeOptions = DecodeOptions(),
        limits: DecodeLimits = .standard,
        in pool: HelperPool = .shared,
        pausing threads: WorkPool? = nil
    ) throws(EideticError) -> Int {
        try perform(reading: bytes, in: pool) { () throws(EideticError) in
            try ImageDecoder.workingMemory(for: bytes, options: options, limits: limits)
        } sandboxed: { pool throws(EideticError) in
            try pool.probe(bytes, options: options, limits: limits, pausing: threads).workingMemory
        }
    }
}
