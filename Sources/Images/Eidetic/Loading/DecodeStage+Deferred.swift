import EideticCodecs
import EideticCore
import EideticSandbox

extension DecodeStage {
    /// Parses the header and checks the limits as a decode does, and returns an image that is decoded on first use.
    ///
    /// - Throws: The errors of a decode that the header alone causes.
    func makeDeferredImage(
        from bytes: [UInt8],
        by policy: RenditionPolicy,
        context: JobContext?,
        decode: @escaping DeferredImage.DecodeFunction,
        decodeShared: @escaping DeferredImage.SharedDecodeFunction
    ) throws(EideticError) -> (image: Image, header: ImageHeader) {
        let options = policy.options
        return try policy.decodePolicy.perform(reading: bytes, in: sandbox) { () throws(EideticError) in
            try ImageDecoder.makeDeferredImage(
                from: bytes,
                options: options,
                limits: limits,
                decode: decode,
                decodeShared: decodeShared
            )
        } sandboxed: { pool throws(EideticError) in
            let probe = try pool.probe(
                bytes,
                options: options,
                limits: limits,
                context: context,
                // Without a context the thread belongs to the caller.
                pausing: context == nil ? nil : pools.sandboxed
            )
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
}

extension DecodeStage {
    /// Returns whether the header alone is a reason to refuse an image.
    func isRefused(_ bytes: [UInt8], options: DecodeOptions, by policy: RenditionPolicy) async -> Bool {
        let needed = try? await run(decoding: bytes, by: policy) { [limits, sandbox, pools] _ throws(EideticError) in
            try policy.decodePolicy.workingMemory(
                for: bytes,
                options: options,
                limits: limits,
                in: sandbox,
                pausing: pools.sandboxed
            )
        }
        return needed == nil
    }
}

extension DecodeStage {
    /// Decodes a derived image on the calling thread.
    func derivedImage(
        _ bytes: [UInt8],
        options: DecodeOptions = DecodeOptions(),
        by policy: RenditionPolicy,
        context: JobContext?
    ) throws(EideticError) -> Image {
        guard !RawPixels.matches(bytes) else {
            return try DerivedImageCoding.decode(bytes, options: options, limits: limits, context: context)
        }
        let decoded = try decode(bytes, options: options, policy: policy.decodePolicy, context: context)
        count(isSandboxed: decoded.isSandboxed, of: bytes, by: policy)
        return decoded.image
    }
}
