package import EideticCodecs
package import EideticCore
package import EideticSandbox

/// The one place that decides whether encoded bytes are read in this process or in another one.
extension DecodePolicy {
    /// Reads bytes in the process that the policy names.
    ///
    /// - Parameters:
    ///   - bytes: The beginning of the image; a format of the application's own is decoded in this process.
    ///   - limits: The maximum resources of a decode.
    ///   - context: Cancels the work; without one the thread does not wait for memory.
    ///   - pool: The processes of the sandbox.
    ///   - threads: The pool of the calling thread, whose other jobs do not wait for a slow image.
    ///   - body: Reads the bytes.
    /// - Returns: The result of `body`.
    /// - Throws: The errors of `body`; `sandboxUnavailable` if the policy does not allow this process instead for this
    ///   format.
    package func read<Value>(
        _ bytes: [UInt8],
        limits: DecodeLimits = .standard,
        context: JobContext? = nil,
        in pool: HelperPool = .shared,
        pausing threads: WorkPool? = nil,
        body: (any ImageDecoding) throws(EideticError) -> Value
    ) throws(EideticError) -> Value {
        let local = LocalDecoding(limits: limits, context: context)
        guard usesSandbox(for: bytes) else { return try body(local) }
        do throws(EideticError) {
            let value = try body(SandboxDecoding(limits: limits, context: context, pool: pool, threads: threads))
            DecodeSandbox.reportStatus(of: pool)
            return value
        } catch {
            guard error.code == .sandboxUnavailable else { throw error }
            guard allowsFallback(for: bytes, in: pool) else { throw Self.unavailable(error, for: bytes) }
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

    /// Parses the header of an image.
    package func header(
        of bytes: [UInt8],
        in pool: HelperPool = .shared
    ) throws(EideticError) -> ImageHeader? {
        try read(bytes, in: pool) { decoding throws(EideticError) in
            try decoding.header(of: bytes, isComplete: true)
        }
    }

    /// Decodes an image; throws the errors of `ImageDecoder.decode`, `sandboxUnavailable` and `decoderFailed`.
    package func decode(
        _ bytes: [UInt8],
        options: DecodeOptions,
        context: JobContext? = nil,
        in pool: HelperPool = .shared,
        pausing threads: WorkPool? = nil
    ) throws(EideticError) -> Rendition {
        try read(bytes, context: context, in: pool, pausing: threads) { decoding throws(EideticError) in
            try decoding.render(bytes, options: options)
        }
    }

    /// Reads the metadata of an image.
    package func metadata(of bytes: [UInt8]) throws(EideticError) -> ImageMetadata {
        try read(bytes) { decoding throws(EideticError) in try decoding.metadata(of: bytes) }
    }
}
