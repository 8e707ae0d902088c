import EideticCodecs

/// Decodes previews from the bytes received so far.
///
/// Previews are made one at a time. The frames of an animation are looked for in all bytes as they are received. Each
/// job has its own generator, because jobs differ in size and transform.
final class PreviewGenerator: Sendable {
    private struct State {
        var source: PreviewSource
        var search: FrameSearch
        var animation = ArrivingAnimation()
        /// A Boolean value indicating whether the thumbnail in the bytes may still be the first preview.
        var seeksThumbnail = true

        /// The number of bytes from which on there is something to do.
        var nextByteCount: Int {
            guard animation.image == nil else { return search.isFollowing ? search.nextByteCount : .max }
            return min(source.nextByteCount, search.nextByteCount)
        }
    }

    private let state: Guarded<State>
    private let stage: DecodeStage
    private let context: JobContext
    private let policy: RenditionPolicy
    private let report: @Sendable (Image) -> Void

    /// Creates the generator of a job's previews, which it reports.
    init(for job: ImageJob) {
        stage = job.loader.stage
        context = job.context
        policy = job.policy
        report = { [report = job.report] in report(.preview($0)) }
        let source = PreviewSource { [stage, policy, context] in
            stage.makePreviewDecoder(by: policy, context: context)
        }
        state = Guarded(State(source: source, search: FrameSearch(findsAnimations: policy.streamsAnimations)))
    }

    /// Starts a preview if enough bytes were received since the last one; returns at once.
    func dataReceived(_ data: PartialData) {
        let count = data.count
        let (starts, replaced) = state.withLock { state -> (Bool, PreviewSource.Decode?) in
            guard state.source.receive(data) else { return (false, nil) }
            let (isOther, replaced) = state.source.restart(with: data)
            if isOther {
                // The frames of another response do not continue an animation.
                let findsAnimations = policy.streamsAnimations && state.animation.image == nil
                state.search = FrameSearch(findsAnimations: findsAnimations)
            }
            guard count >= state.nextByteCount else { return (false, replaced) }
            state.source.isBusy = true
            return (true, replaced)
        }
        // The replaced decoder's memory is freed outside the lock.
        _ = consume replaced
        guard starts else { return }
        stage.pool(for: data.signature, by: policy).enqueue(in: context) { [self] in
            makePreview(from: data)
            let latest = state.withLock { $0.source.end() }
            // What has arrived meanwhile, perhaps in another response, does not wait for more bytes.
            if !context.isCancelled, let latest { dataReceived(latest) }
        }
    }

    /// Stops the generator, because the image itself is decoded now.
    func stop() { _ = state.withLock { state in (state.source.stop(), state.animation.releaseData()) } }

    /// Ends the animation that was reported, if there is one: with the rest of its bytes, or after an error.
    func finish(with result: Result<EncodedImage, EideticError>) -> Image? {
        let animation = state.withLock { state in
            state.animation.isOpen = false
            return state.animation
        }
        return animation.complete(with: result)
    }
}

// MARK: One turn
extension PreviewGenerator {
    private var decode: PreviewSource.Decode? { context.isCancelled ? nil : state.withLock { $0.source.decode } }

    private func makePreview(from data: PartialData) {
        guard let decode else { return }
        if continueAnimation(with: data) { return }
        let finding = seekFrames(in: data)
        if finding == .animation, startAnimation(with: data) { return }
        let count = data.count
        let isDue = state.withLock { $0.source.isDue(byteCount: count, isRequired: finding == .image) }
        guard isDue else { return }
        let bytes = data.snapshot
        // Most rows say more than a small copy of the whole.
        let hasFewRows = count < (data.expectedCount ?? .max) / 2
        // The bytes may be too few for a preview, which is no error.
        guard var image = (hasFewRows ? thumbnail(in: bytes) : nil) ?? (try? decode(bytes)),
            image.isPartial || finding == .image, self.decode != nil
        else { return }
        state.withLock { $0.seeksThumbnail = false }
        image.attributes.isPartial = true
        report(image)
    }

    /// Returns the small copy that a camera has put before the pixels, as long as no other preview was reported; `nil`
    /// if there is none, or a transform would have to change it, whose lengths are those of the image.
    private func thumbnail(in bytes: [UInt8]) -> Image? {
        guard state.withLock({ $0.seeksThumbnail }), let thumbnail = JPEGThumbnail(in: bytes) else { return nil }
        let copy = try? policy.decodePolicy.decode(
            thumbnail.file,
            options: policy.options,
            in: stage.host,
            context: context
        )
        guard let copy = copy?.image, policy.transform(for: copy) == nil else { return nil }
        return thumbnail.preview(copy)
    }

    /// Appends the bytes that have arrived since to the animation; returns `false` if there is none.
    private func continueAnimation(with data: PartialData) -> Bool {
        state.withLock { state in
            guard state.animation.image != nil else { return false }
            if state.search.isFollowing, state.animation.isOpen {
                state.animation.append(from: data)
                state.search.follow(byteCount: state.animation.byteCount)
            } else {
                state.search.end()
            }
            return true
        }
    }

    /// Looks for the first frame in the bytes that have arrived since the last look.
    private func seekFrames(in data: PartialData) -> FrameSearch.Finding {
        // Only this turn changes the search, which takes too long for the lock.
        var search = state.withLock { $0.search }
        let finding = search.seek(in: data, isSandboxed: policy.decodePolicy.isSandboxed)
        let result = search
        state.withLock { $0.search = result }
        return finding
    }

    /// Reports an animation whose first frame has arrived; returns `true` if it did.
    private func startAnimation(with data: PartialData) -> Bool {
        let bytes = data.snapshot
        let image = try? stage.openAnimation(bytes, isComplete: false, by: policy, context: context)?.image
        let isReported = state.withLock { state in
            guard let image, state.animation.isOpen, !state.source.isStopped else {
                state.search.attemptFailed(byteCount: bytes.count)
                return false
            }
            state.animation.begin(image, byteCount: bytes.count, of: data)
            state.search.follow(byteCount: bytes.count)
            return true
        }
        if isReported, let image { report(image) }
        return isReported
    }
}

/// The bytes of which previews are made, one response after another, and the turn of the next preview.
struct PreviewSource {
    /// Makes a preview of ever more bytes of one response; `nil` if they are too few.
    typealias Decode = @Sendable ([UInt8]) throws(EideticError) -> Image?

    private static let minimumStep = 256

    /// Makes a decoder for the bytes of one response; `nil` once the generator is stopped.
    private var makeDecode: (@Sendable () -> Decode)?
    /// The bytes being decoded; if the first of several servers fails, the next one's replace them.
    private var data: PartialData?
    /// The bytes that were received last, while others may still be decoded.
    private var latest: PartialData?
    /// The decoder of `data`, which holds memory from one preview to the next.
    private(set) var decode: Decode?
    var isBusy = false
    /// The number of bytes from which on the next preview is made.
    private(set) var nextByteCount = minimumStep

    init(makeDecode: @escaping @Sendable () -> Decode) { self.makeDecode = makeDecode }

    var isStopped: Bool { makeDecode == nil }

    /// Records what has arrived; returns `false` while other bytes are being decoded, and once it is stopped.
    mutating func receive(_ data: PartialData) -> Bool {
        guard !isStopped else { return false }
        latest = data
        return !isBusy
    }

    /// Begins again if the bytes are those of another response than before.
    mutating func restart(with data: PartialData) -> (isOther: Bool, replaced: Decode?) {
        guard self.data !== data else { return (false, nil) }
        let replaced = decode
        self.data = data
        decode = makeDecode?()
        nextByteCount = Self.minimumStep
        return (true, replaced)
    }

    /// Ends a turn, and returns what has arrived meanwhile.
    mutating func end() -> PartialData? {
        isBusy = false
        return latest
    }

    /// Returns whether a preview of this many bytes is due, and sets the number for the next one.
    ///
    /// Each has at least half as many bytes again as the one before, so that a slow connection does not cause too many.
    mutating func isDue(byteCount: Int, isRequired: Bool) -> Bool {
        guard byteCount >= nextByteCount || isRequired else { return false }
        nextByteCount = byteCount + max(Self.minimumStep, byteCount / 2)
        return true
    }

    /// Ends all turns, and returns what it holds, which is freed outside of the lock.
    mutating func stop() -> (Decode?, PartialData?, PartialData?) {
        makeDecode = nil
        return (decode.take(), data.take(), latest.take())
    }
}
