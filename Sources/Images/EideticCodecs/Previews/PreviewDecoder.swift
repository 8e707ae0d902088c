package import EideticCore

/// Decodes progressive previews of an image that is being downloaded.
///
/// JPEG (without arithmetic coding), PNG, GIF, still WebP and JPEG XL are decoded incrementally, so that each byte is
/// decoded once, however many previews there are. Other formats, images beyond the memory budget and corrupt images are
/// decoded from the start for each preview.
///
/// Unchecked, because its user decodes the previews of one image one after the other, so only one thread at a time uses
/// it.
package final class PreviewDecoder: @unchecked Sendable {
    private let options: DecodeOptions
    private let limits: DecodeLimits
    private let context: JobContext
    private var feedState: FeedState = .undetermined

    /// The bytes that were decoded for all previews; more than those of the image if some were decoded repeatedly.
    package private(set) var decodedByteCount = 0

    private enum FeedState {
        case undetermined
        case unavailable
        case active(any PreviewFeed, reservedBytes: Int, header: ImageHeader)
    }

    /// Creates a decoder for one image; `options` are those of the complete image.
    package init(options: DecodeOptions, limits: DecodeLimits, context: JobContext) {
        self.options = Self.options(for: options)
        self.limits = limits
        self.context = context
    }

    /// Returns the options of a preview, from those of the complete image.
    package static func options(for options: DecodeOptions) -> DecodeOptions {
        options.with { options in
            options.acceptsPartial = true
            options.frames = .first
        }
    }

    deinit { stopFeed() }

    /// The number of bytes that the incremental decoder has consumed; `nil` if there is none.
    package var consumedByteCount: Int? {
        if case .active(let feed, _, _) = feedState { feed.consumedByteCount } else { nil }
    }

    /// Returns a preview from the first bytes of an image: those of the previous call, and the bytes since.
    ///
    /// For threads of a `WorkPool` only, one at a time.
    ///
    /// - Returns: The preview; `nil` if nothing is visible yet.
    /// - Throws: The errors of `ImageDecoder.decode`; if bytes are missing, a later call may succeed.
    package func preview(of bytes: [UInt8]) throws(EideticError) -> Image? {
        try bytes.span.withUnsafeBytes { bytes throws(EideticError) in try preview(of: try open(bytes)) }
    }

    /// Parses the header of the first bytes of an image, and checks the limits.
    ///
    /// - Throws: The errors of ``preview(of:)-(DecodeSession)`` that the header alone causes.
    package func open(_ bytes: UnsafeRawBufferPointer) throws(EideticError) -> DecodeSession {
        try DecodeSession(bytes: bytes, options: options, limits: limits, context: context)
    }

    /// Returns a preview of what ``open(_:)`` has parsed; blocks until the library returns.
    ///
    /// - Returns: The preview; `nil` if nothing is visible yet.
    /// - Throws: The errors of `ImageDecoder.decode`.
    package func preview(of session: DecodeSession) throws(EideticError) -> Image? {
        let plan = session.plan
        if case .undetermined = feedState { startFeed(for: plan) }
        if case .active(_, _, let header) = feedState,
            header.format != plan.header.format || header.size != plan.header.size
        {
            stopFeed()
        }
        return try DecodeMemoryBudget.shared.withReservation(of: plan.workingMemory, context: context) {
            () throws(EideticError) in
            guard case .active(let feed, _, _) = feedState else { return try decode(plan) }
            let consumedByteCount = feed.consumedByteCount
            defer { decodedByteCount += feed.consumedByteCount - consumedByteCount }
            do throws(EideticError) {
                return try plan.decodePreview(from: feed)
            } catch  where error.code != .cancelled {
                stopFeed()
                if error.code == .limitExceeded { throw error }
                // The ordinary decoder may accept data that the incremental one rejects.
                return try decode(plan)
            }
        }
    }

    private func decode(_ plan: DecodePlan) throws(EideticError) -> Image {
        decodedByteCount += plan.bytes.count
        return try plan.decode()
    }

    /// Creates an incremental decoder if the format has one and the budget allows it.
    private func startFeed(for plan: DecodePlan) {
        let reservedBytes = plan.feedMemory
        feedState = .unavailable
        guard DecodeMemoryBudget.previews.tryReserve(reservedBytes) else { return }
        if let newFeed = try? plan.makeFeed() {
            feedState = .active(newFeed, reservedBytes: reservedBytes, header: plan.header)
        } else {
            DecodeMemoryBudget.previews.release(reservedBytes)
        }
    }

    private func stopFeed() {
        guard case .active(_, let reservedBytes, _) = feedState else { return }
        feedState = .unavailable
        DecodeMemoryBudget.previews.release(reservedBytes)
    }
}

extension DecodePlan {
    /// The memory that an incremental decoder keeps from one preview to the next, in bytes.
    var feedMemory: Int {
        switch header.format {
        case .png: makeTask(deadline: .now).estimatedMemory(canvasCount: 1)
        // libwebp keeps the pixels of a lossless image once more.
        case .webp: makeTask(deadline: .now).estimatedMemory(canvasCount: isLosslessWebP ? 2 : 1)
        // The pixels, and libjxl's coefficients and planes.
        case .jpegxl: makeTask(deadline: .now).estimatedMemory(canvasCount: 5)
        default: workingMemory
        }
    }

    private var isLosslessWebP: Bool { (try? WebPStructure(bytes))?.isLossless ?? true }

    /// Returns an incremental decoder; `nil` for formats without one.
    func makeFeed() throws(EideticError) -> (any PreviewFeed)? {
        let task = makeTask(deadline: .now)
        switch header.format {
        case .jpeg: return try JPEGPreviewFeed(task: task)
        case .png: return try PNGPreviewFeed(task: task)
        case .gif: return try GIFPreviewFeed(task: task, bytes: bytes)
        case .webp: return try WebPStructure(bytes).isAnimated ? nil : WebPPreviewFeed(task: task)
        #if JPEGXL
        case .jpegxl: return JPEGXLPreviewFeed()
        #endif
        default: return nil
        }
    }

    func decodePreview(from feed: any PreviewFeed) throws(EideticError) -> Image? {
        let task = makeTask(deadline: .now + limits.duration)
        guard let decoded = try feed.decodePreview(of: bytes, for: task) else { return nil }
        return try makeImage(from: decoded, for: task)
    }
}

/// An incremental decoder for an image that is being downloaded; it decodes each byte once.
///
/// After an error, a feed is unusable.
protocol PreviewFeed: AnyObject {
    /// Decodes the new part of `bytes`, which start at the first byte of the image, and returns the visible image.
    ///
    /// Calls `task.checkpoint()` every few milliseconds.
    ///
    /// - Returns: The pixels so far; `nil` if no row is complete yet.
    func decodePreview(of bytes: UnsafeRawBufferPointer, for task: DecodeTask) throws(EideticError) -> DecodedPixels?

    var consumedByteCount: Int { get }
}
