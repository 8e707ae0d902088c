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
    private let context: WorkContext
    private var feed: Feed = .undecided

    private enum Feed {
        case undecided
        case none
        case some(any PictureFeed, share: Int, of: ImageHeader)
    }

    /// Creates a decoder for one picture; `options` say how it is to look in the end.
    package init(options: DecodeOptions, limits: DecodeLimits, context: WorkContext) {
        self.options = options.with { options in
            options.acceptsPartial = true
            options.frames = .first
        }
        self.limits = limits
        self.context = context
    }

    deinit { giveUp() }

    /// The bytes that were given to a decoder which goes on where it stopped; `nil` where there is none.
    package var taken: Int? { if case .some(let feed, _, _) = feed { feed.taken } else { nil } }

    /// What the beginning of a picture shows: `bytes` are those of the call before, and what has come since.
    ///
    /// For threads of a `WorkPool` only, one at a time. `nil` where there is nothing to be seen yet.
    ///
    /// - Throws: What `ImageDecoder.decode` throws; where bytes are missing, the next call may do better.
    package func image(of bytes: UnsafeRawBufferPointer) throws(EideticError) -> Image? {
        let plan = try DecodePlan(bytes, options, limits, context)
        if case .undecided = feed { begin(plan) }
        if case .some(_, _, let header) = feed, header.format != plan.header.format || header.size != plan.header.size {
            giveUp()
        }
        return try DecodeMemory.shared.withShare(plan.memory, context) { () throws(EideticError) in
            guard case .some(let feed, _, _) = feed else { return try plan.run() }
            do throws(EideticError) {
                return try plan.run(feed)
            } catch  where error.code != .cancelled {
                giveUp()
                if error.code == .limitExceeded { throw error }
                // What is broken for one way of decoding may not be for the other.
                return try plan.run()
            }
        }
    }

    /// Takes memory for as long as the picture comes, or does without.
    private func begin(_ plan: DecodePlan) {
        let share = plan.memory
        feed = .none
        guard DecodeMemory.previews.take(share) else { return }
        if let new = try? plan.feed() {
            feed = .some(new, share: share, of: plan.header)
        } else {
            DecodeMemory.previews.giveBack(share)
        }
    }

    private func giveUp() {
        guard case .some(_, let share, _) = feed else { return }
        feed = .none
        DecodeMemory.previews.giveBack(share)
    }
}

extension DecodePlan {
    /// A decoder that goes on where it stopped; `nil` for formats that have none.
    fileprivate func feed() throws(EideticError) -> (any PictureFeed)? {
        let task = task(until: .now)
        switch header.format {
        case .jpeg: return try JPEGSegments(bytes).isLossless ? nil : JPEGFeed(task)
        case .png: return try PNGFeed(task)
        case .gif: return try GIFFeed(task, bytes)
        case .webp: return try WebPStructure(bytes).isAnimated ? nil : WebPFeed(task)
        default: return nil
        }
    }

    fileprivate func run(_ feed: any PictureFeed) throws(EideticError) -> Image? {
        let task = task(until: .now + limits.duration)
        guard let picture = try feed.picture(of: bytes, task) else { return nil }
        return try finished(picture, task)
    }
}
