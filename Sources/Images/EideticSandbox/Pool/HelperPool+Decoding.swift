package import EideticCodecs
package import EideticCore

/// The functions of `ImageDecoder`, performed by a decoding process.
///
/// Replies of a process are not trusted: sizes are compared with those that the limits and the options allow before
/// memory is created, its size cannot change, and pixels are read only once nobody can write them, or are copied.
extension HelperPool {
    /// Parses the header of an image without decoding pixels.
    ///
    /// - Throws: The errors of `ImageDecoder.header(of:isComplete:)`, `sandboxUnavailable` and `decoderFailed`.
    package func header(
        of bytes: [UInt8],
        isComplete: Bool = true,
        limits: DecodeLimits = .standard,
        context: JobContext? = nil,
        pausing threads: WorkPool? = nil
    ) throws(EideticError) -> ImageHeader? {
        try withSession(for: bytes, in: context, limits: limits, pausing: threads) { session throws(EideticError) in
            try bytes.span.withUnsafeBytes { bytes throws(EideticError) in
                try session.header(of: bytes, isComplete: isComplete)
            }
        }
    }

    /// Decodes an image.
    ///
    /// - Parameters:
    ///   - bytes: The encoded image.
    ///   - options: The target size, the frames and the conversions.
    ///   - limits: The maximum resources of the decode; at `duration` the process is ended, whatever it does.
    ///   - context: Cancels the decode; with one the thread waits until memory is available.
    ///   - threads: The pool of the calling thread, whose other jobs do not wait for a slow image.
    /// - Returns: The decoded image and its header.
    /// - Throws: The errors of `ImageDecoder.decode`, `sandboxUnavailable` and `decoderFailed`.
    package func decode(
        _ bytes: [UInt8],
        options: DecodeOptions,
        limits: DecodeLimits,
        context: JobContext?,
        pausing threads: WorkPool? = nil
    ) throws(EideticError) -> (image: Image, header: ImageHeader) {
        try withSession(for: bytes, in: context, limits: limits, pausing: threads) { session throws(EideticError) in
            try bytes.span.withUnsafeBytes { bytes throws(EideticError) in try session.decode(bytes, options: options) }
        }
    }

    /// Parses the header and checks the limits as ``decode(_:options:limits:context:pausing:)`` does.
    ///
    /// - Returns: The header, the size of the decoded image, and the peak memory of the decode in bytes.
    package func probe(
        _ bytes: [UInt8],
        options: DecodeOptions,
        limits: DecodeLimits,
        context: JobContext? = nil,
        pausing threads: WorkPool? = nil
    ) throws(EideticError) -> (header: ImageHeader, size: PixelSize, workingMemory: Int) {
        try withSession(for: bytes, in: context, limits: limits, pausing: threads) { session throws(EideticError) in
            let opened = try bytes.span.withUnsafeBytes { bytes throws(EideticError) in
                try session.open(bytes, options: options)
            }
            return (opened.header, opened.layout.size, opened.workingMemory)
        }
    }

    /// Reads the metadata of an image, as `ImageMetadata.init(of:)` does.
    package func metadata(of bytes: [UInt8]) throws(EideticError) -> ImageMetadata {
        try withSession(for: bytes, in: nil, limits: .standard, pausing: nil) { session throws(EideticError) in
            try bytes.span.withUnsafeBytes { bytes throws(EideticError) in try session.metadata(of: bytes) }
        }
    }

    private func withSession<Value>(
        for bytes: [UInt8],
        in context: JobContext?,
        limits: DecodeLimits,
        pausing threads: WorkPool?,
        body: (HelperSession) throws(EideticError) -> Value
    ) throws(EideticError) -> Value {
        try checkOwner()
        let place = UsePlace(in: self)
        try place.begin(context: context)
        defer { place.end() }
        let helper = try acquire(for: bytes.withUnsafeBytes { ImageFormat.known(in: $0) })
        countRequest()
        let session = HelperSession(pool: self, helper: helper, limits: limits, context: context, threads: threads)
        session.place = place
        // The session ends before its process is lent to another one.
        defer { giveBack(helper) }
        defer { session.end() }
        return try body(session)
    }
}
