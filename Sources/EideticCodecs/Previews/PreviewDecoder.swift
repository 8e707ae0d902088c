package import EideticCore

/// Shows what is there of a picture while its bytes come (L10).
///
/// JPEG (not with arithmetic coding), PNG, GIF and still WebP are gone on with where the bytes ended the last time, so that each is decoded once
/// however many previews there are. Of other formats, of what memory has no room for, and of damaged pictures, the
/// beginning is decoded anew each time.
///
/// Unchecked, because one thread at a time uses it: who makes the previews of a picture makes one after the other.
package final class PreviewDecoder: @unchecked Sendable {
    private let options: DecodeOptions
    private let limits: DecodeLimits
    private let context: JobContext
    private var feedState: FeedState = .undetermined

    private enum FeedState {
        case undetermined
        case unavailable
        case active(any PreviewFeed, reservedBytes: Int, header: ImageHeader)
    }

    /// Creates a decoder for one picture; `options` say how it is to look in the end.
    package init(options: DecodeOptions, limits: DecodeLimits, context: JobContext) {
        self.options = options.with { options in
            options.acceptsPartial = true
            options.frames = .first
        }
        self.limits = limits
        self.context = context
    }

    deinit { stopFeed() }

    /// The bytes that were given to a decoder which goes on where it stopped; `nil` where there is none.
    package var consumedByteCount: Int? {
        if case .active(let feed, _, _) = feedState { feed.consumedByteCount } else { nil }
    }

    /// What the beginning of a picture shows: `bytes` are those of the call before, and what has come since.
    ///
    /// For threads of a `WorkPool` only, one at a time. `nil` where there is nothing to be seen yet.
    ///
    /// - Throws: What `ImageDecoder.decode` throws; where bytes are missing, the next call may do better.
    package func preview(of bytes: UnsafeRawBufferPointer) throws(EideticError) -> Image? {
        let plan = try DecodePlan(bytes: bytes, options: options, limits: limits, context: context)
        if case .undetermined = feedState { startFeed(for: plan) }
        if case .active(_, _, let header) = feedState,
            header.format != plan.header.format || header.size != plan.header.size
        {
            stopFeed()
        }
        return try DecodeMemoryBudget.shared.withReservation(of: plan.workingMemory, context: context) {
            () throws(EideticError) in
            guard case .active(let feed, _, _) = feedState else { return try plan.decode() }
            do throws(EideticError) {
                return try plan.decodePreview(from: feed)
            } catch  where error.code != .cancelled {
                stopFeed()
                if error.code == .limitExceeded { throw error }
                // What is broken for one way of decoding may not be for the other.
                return try plan.decode()
            }
        }
    }

    /// Takes memory for as long as the picture comes, or does without.
    private func startFeed(for plan: DecodePlan) {
        let reservedBytes = plan.workingMemory
        feedState = .unavailable
        guard DecodeMemoryBudget.previews.tryReserve(reservedBytes) else { return }
        if let newFeed = try? plan.makeFeed() {
            feedState = .active(newFeed, reservedBytes: reservedBytes, header: plan.header)
        } else {
            DecodeMemoryBudget.previews.giveBack(reservedBytes)
        }
    }

    private func stopFeed() {
        guard case .active(_, let reservedBytes, _) = feedState else { return }
        feedState = .unavailable
        DecodeMemoryBudget.previews.giveBack(reservedBytes)
    }
}

extension DecodePlan {
    /// A decoder that goes on where it stopped; `nil` for formats that have none.
    fileprivate func makeFeed() throws(EideticError) -> (any PreviewFeed)? {
        let task = makeTask(deadline: .now)
        switch header.format {
        case .jpeg: return try JPEGSegments(bytes).isLossless ? nil : JPEGPreviewFeed(task: task)
        case .png: return try PNGPreviewFeed(task: task)
        case .gif: return try GIFPreviewFeed(task: task, bytes: bytes)
        case .webp: return try WebPStructure(bytes).isAnimated ? nil : WebPPreviewFeed(task: task)
        default: return nil
        }
    }

    fileprivate func decodePreview(from feed: any PreviewFeed) throws(EideticError) -> Image? {
        let task = makeTask(deadline: .now + limits.duration)
        guard let decoded = try feed.decodePreview(of: bytes, for: task) else { return nil }
        return try makeImage(from: decoded, for: task)
    }
}
