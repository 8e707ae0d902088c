package import EideticCodecs
package import EideticCore

/// Decodes the frames of an animation in a decoding process.
///
/// The bytes are handed over once. A process that ends is replaced once for a frame; if its successor ends as well, or
/// a frame takes longer than the time limit, the call for that frame fails. Transforms run in this process.
///
/// Unchecked, because its user makes one call at a time, as `FrameSource` demands.
package final class SandboxedAnimation: FrameSource, @unchecked Sendable {
    private let decoder: RemoteDecoder
    private let limits: DecodeLimits
    private let transform: (any ImageTransform)?
    private let threads: WorkPool?
    private let maximumCopyBytes: Int
    private var usage = DecoderUsage()
    private var decodedSize: PixelSize
    private var deliveredSize: PixelSize?
    package private(set) var info: AnimationInfo

    /// Creates a decoder from the first bytes of an animation, or from all of them.
    ///
    /// The result is `nil` if the format has no frames that can be decoded one by one, if the bytes are a still image,
    /// or if they do not yet contain the first frame.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - isComplete: `true` if they are the whole file.
    ///   - options: The size and the conversions, for each frame alike.
    ///   - transform: The change of each frame; `nil` for none.
    ///   - maximumCopyBytes: The memory for copies of the canvas.
    ///   - limits: The limits; the time is that of each call.
    ///   - pool: The processes.
    ///   - context: Cancels this call; without one the thread does not wait for memory.
    ///   - threads: The pool of the threads that decode frames, whose other jobs do not wait for a slow one.
    /// - Throws: The errors of `AnimationDecoder`, `sandboxUnavailable` and `decoderFailed`.
    package init?(
        _ bytes: [UInt8],
        isComplete: Bool,
        options: DecodeOptions,
        transform: (any ImageTransform)? = nil,
        maximumCopyBytes: Int = 0,
        limits: DecodeLimits,
        pool: HelperPool,
        context: JobContext?,
        pausing threads: WorkPool? = nil
    ) throws(EideticError) {
        guard AnimationDecoder.mayBeAnimated(bytes) else { return nil }
        let decoder = try RemoteDecoder(
            .animation,
            byteCount: bytes.count,
            isComplete: isComplete,
            options: options,
            limits: limits,
            maximumCopyBytes: maximumCopyBytes,
            pool: pool
        )
        try bytes.span.withUnsafeBytes { bytes throws(EideticError) in
            try decoder.append(bytes, isComplete: isComplete)
        }
        let opened = try decoder.call(context: context, pausing: context == nil ? nil : threads) {
            call throws(EideticError) in
            try Self.properties(in: call, limits: limits)
        }
        guard let opened, opened.info.frameCount > 0 else { return nil }
        decoder.recordMemory(workingMemory: Self.workingMemory(of: opened.info))
        self.decoder = decoder
        self.limits = limits
        self.transform = transform
        self.threads = threads
        self.maximumCopyBytes = maximumCopyBytes
        info = opened.info
        usage = opened.usage
        decodedSize = opened.info.size
        info.isComplete = info.isComplete || isComplete
    }

    /// The encoded bytes, and what the process keeps, as far as an honest one may; at least two canvases, and copies.
    package var retainedByteLimit: Int {
        let canvas = 4 * info.sourceSize.pixelCount
        let copies = info.isComplete ? min(maximumCopyBytes, info.frameCount * canvas) : maximumCopyBytes
        return decoder.byteCount + max(2 * canvas + copies, min(usage.retainedByteCount, 8 * canvas + maximumCopyBytes))
    }

    /// The memory of decoding a frame, as in `AnimationDecoder`.
    private static func workingMemory(of info: AnimationInfo) -> Int { 4 * 4 * info.sourceSize.pixelCount }

    /// Returns the properties of bytes that were passed on; `nil` if the bytes are no animation so far.
    private static func properties(
        in call: RemoteDecoder.Call,
        limits: DecodeLimits
    ) throws(EideticError) -> (info: AnimationInfo, usage: DecoderUsage)? {
        guard case .animation(let description, let usage) = call.properties else {
            throw call.session.unexpectedReply()
        }
        guard let description else { return nil }
        guard let layout = ResultLayout(size: description.size, frameCount: 1),
            ResultLayout(size: description.sourceSize, frameCount: 1) != nil,
            description.frameCount <= max(1, limits.frames), description.sourceSize.pixelCount <= limits.pixels
        else { throw call.session.unexpectedReply() }
        try call.session.check(layout, options: DecodeOptions())
        let durations = try call.session.durations(count: description.frameCount)
        return (description.info(durations: durations.map(\.clampedForPlayback)), usage)
    }
}

// MARK: Frames
extension SandboxedAnimation {
    package func append(_ bytes: [UInt8], isComplete: Bool) throws(EideticError) -> AnimationInfo {
        try bytes.span.withUnsafeBytes { bytes throws(EideticError) in
            try decoder.append(bytes, isComplete: isComplete)
        }
        try decoder.call(context: JobContext(), pausing: threads) { call throws(EideticError) in
            try record(call)
        }
        return info
    }

    /// Records the properties of bytes that the process has parsed since.
    private func record(_ call: RemoteDecoder.Call) throws(EideticError) {
        guard call.properties != nil else { return }
        // Frames that were announced do not vanish, nor does their size grow beyond what was reserved.
        guard let next = try Self.properties(in: call, limits: limits), next.info.sourceSize == info.sourceSize,
            next.info.format == info.format, next.info.frameCount >= info.frameCount,
            next.info.size.pixelCount <= max(decodedSize.pixelCount, info.sourceSize.pixelCount)
        else { throw call.session.unexpectedReply() }
        info = next.info
        usage = next.usage
        decodedSize = next.info.size
        // The application knows whether bytes follow.
        info.isComplete = info.isComplete || decoder.isComplete
        if let deliveredSize { info.size = deliveredSize }
        decoder.recordMemory(workingMemory: Self.workingMemory(of: info))
    }

    /// Decodes the first frame; without a context the thread does not wait for memory.
    package func firstFrame(context: JobContext?) throws(EideticError) -> PixelBuffer {
        try frame(at: 0, context: context, pausing: context == nil ? nil : threads)
    }

    package func frame(at index: Int, context: JobContext) throws(EideticError) -> PixelBuffer {
        try frame(at: index, context: context, pausing: threads)
    }

    private func frame(
        at index: Int,
        context: JobContext?,
        pausing threads: WorkPool?
    ) throws(EideticError) -> PixelBuffer {
        guard (0..<info.frameCount).contains(index) else {
            throw EideticError(.invalidArgument, message: "\(info.format): there is no frame \(index)")
        }
        let decoded = try decoder.call(context: context, pausing: threads) { call throws(EideticError) in
            try record(call)
            return try frame(at: index, by: call)
        }
        let pixels = try transform?.apply(to: decoded) ?? decoded
        if deliveredSize == nil { (deliveredSize, info.size) = (pixels.size, pixels.size) }
        return pixels
    }

    private func frame(at index: Int, by call: RemoteDecoder.Call) throws(EideticError) -> PixelBuffer {
        guard let layout = ResultLayout(size: decodedSize, frameCount: 1) else { throw call.session.unexpectedReply() }
        let plan = HelperSession.ResultPlan(
            layout: layout,
            workingMemory: decoder.workingMemory,
            keptMemory: call.keptMemory,
            format: info.format,
            scale: 1
        )
        let image = try call.session.image(by: plan) { isInWindow, reply throws(EideticError) in
            let request = HelperRequest.frame(call.decoder, index: index, layout, isInWindow: isInWindow)
            guard case .frame(let result, let usage) = try reply(request) else { return nil }
            self.usage = usage
            return result
        }
        guard let image else { throw call.session.unexpectedReply() }
        return image.pixels
    }
}
