public import Eidetic
import EideticCodecs
public import EideticCore
import EideticFetch

/// A place that shows one image at a time, with the rules that every view needs.
///
/// - A new load cancels the earlier one, whose completion handler is called with `cancelled` before the new load
///   starts; its late image is never shown.
/// - An equal request from the same resource continues the active load, with its own priority: only the earlier
///   completion handler is called with `cancelled`, and the display does not change.
/// - An image in memory is shown before ``load(_:presentation:completion:progress:)`` returns, without placeholder or
///   transition.
/// - While the application is in the background nothing is drawn; on return, or for a snapshot of the window, the last
///   state is drawn once.
///
/// A view that shows several images has several slots. A slot does not retain its display; releasing the slot cancels
/// its load.
@MainActor
public final class ImageSlot {
    /// The state of the slot.
    public private(set) var state = State.empty

    /// The request for the image that is loaded or shown.
    public private(set) var request: ImageRequest?

    /// The task of the active load; its priority may be changed.
    public private(set) var task: ImageTask?

    /// The way in which animations play; a new one continues at the current frame.
    ///
    /// Animations play by default; a request with `firstFrameOnly` shows a still image.
    public var playback = AnimationPlayback() { didSet { animator.playback = playback } }

    /// A Boolean value indicating whether somebody can see the display; true by default.
    ///
    /// While it is false nothing is decoded in advance, and no time passes for an animation.
    public var isVisible = true { didSet { animator.isVisible = isVisible } }

    /// A Boolean value indicating whether animations may move; true by default.
    ///
    /// Set it to the setting "reduce motion" of the desktop: if false, animations show their first frame.
    public var allowsMotion = true { didSet { animator.allowsMotion = allowsMotion } }

    /// The player of the animation that the slot plays; `nil` if it shows a still image.
    public var player: AnimationPlayer? { animator.player }

    private let animator: SlotAnimator
    private weak var display: (any ImageDisplay)?
    private let ownPipeline: ImagePipeline?
    private var pipeline: ImagePipeline?
    private let gate: DisplayGate
    /// The number of the newest load; handlers of earlier ones show nothing.
    private var generation: UInt64 = 0
    private var presentation = Presentation()
    private var isCachedImageShown = false
    private var isPreviewShown = false
    /// A Boolean value indicating whether the active load has had a preview.
    private var hasHadPreview = false
    /// The first preview of the active load if it shows the whole image, over which the following ones are drawn.
    private var wholePreview: Image?
    /// The image that is shown, apart from previews.
    private var shownImage: Image?

    /// Creates a slot.
    ///
    /// - Parameters:
    ///   - display: The object that shows the images; it is not retained.
    ///   - pipeline: The pipeline that loads them; `nil`, the default, for the shared one at the start of each load.
    public convenience init(display: any ImageDisplay, pipeline: ImagePipeline? = nil) {
        self.init(display: display, pipeline: pipeline, gate: .shared)
    }

    /// Creates a slot whose drawing another gate holds back, and whose animations play by another clock.
    package init(
        display: any ImageDisplay,
        pipeline: ImagePipeline? = nil,
        gate: DisplayGate,
        time: any TimeSource = SystemTime(),
        sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) {
        self.display = display
        ownPipeline = pipeline
        self.gate = gate
        animator = SlotAnimator(display: display, gate: gate, time: time, sleep: sleep)
    }

    isolated deinit {
        task?.cancel()
        gate.discard(self)
    }

    /// Loads an image and shows it.
    ///
    /// - Parameters:
    ///   - request: The request; `nil` to empty the slot, which then shows the failure image of the presentation, or
    ///     else its placeholder.
    ///   - presentation: The way in which the load is shown.
    ///   - completion: Called exactly once; without a request with `invalidURL`.
    ///   - progress: Called as bytes are received.
    public func load(
        _ request: ImageRequest?,
        presentation: Presentation = Presentation(),
        completion: (@MainActor (Result<ImageResponse, EideticError>) -> Void)? = nil,
        progress: (@MainActor (LoadProgress) -> Void)? = nil
    ) {
        generation += 1
        guard let request else { return clear(presentation, completion: completion) }
        let pipeline = ownPipeline ?? .shared
        // Images are decoded before they are shown, and not by the thread that draws.
        let load = Load(
            prepared: pipeline.prepare(request.decodingImmediately),
            pipeline: pipeline,
            presentation: presentation,
            generation: generation,
            progress: progress,
            completion: completion
        )
        guard let task, canContinue(task.request, for: load), continueTask(task, with: load) else { return start(load) }
    }

    /// Cancels the load; the display does not change.
    public func cancel() { task?.cancel() }
}

// MARK: Starting and continuing loads
extension ImageSlot {
    /// One load, as its steps hand it along.
    private struct Load {
        let prepared: PreparedLoad
        let pipeline: ImagePipeline
        let presentation: Presentation
        let generation: UInt64
        let progress: (@MainActor (LoadProgress) -> Void)?
        let completion: (@MainActor (Result<ImageResponse, EideticError>) -> Void)?

        var request: ImageRequest { prepared.request }
    }

    private func isCurrent(_ load: Load) -> Bool { generation == load.generation }

    private func start(_ load: Load) {
        if load.presentation.cancelsEarlierLoad { task?.cancel() }
        // The completion handler of the cancelled load may have started another one.
        guard isCurrent(load) else { load.completion?(.failure(.cancelled)); return }
        request = load.request
        presentation = load.presentation
        task = nil
        state = .loading
        pipeline = load.pipeline
        // Request processors may have restored the option to defer decoding.
        let hit = load.pipeline.completingResponse(to: load.prepared).flatMap { $0.image.isDecoded ? $0 : nil }
        isCachedImageShown = false
        hasHadPreview = false
        wholePreview = nil
        if hit == nil { showStart(of: load) }
        // So may the display, when it shows the placeholder.
        guard isCurrent(load) else { load.completion?(.failure(.cancelled)); return }
        let task = ImageTask(
            for: load.prepared,
            in: load.pipeline,
            hit: hit,
            decodesImages: true,
            handlers: handlers(for: load)
        )
        if isCurrent(load), task.result == nil { self.task = task }
    }

    /// Returns whether the load of an earlier request serves a new one as well as its own would.
    private func canContinue(_ earlier: ImageRequest, for load: Load) -> Bool {
        let request = load.request
        return earlier == request && earlier.hasSameSource(as: request) && pipeline === load.pipeline
            && load.presentation.cancelsEarlierLoad
            && load.prepared.withRequest { load.pipeline.completingHit(for: $0) } == nil
    }

    /// Continues the active load with the priority, the presentation and the handlers of a new one.
    ///
    /// - Returns: `false` if that load was cancelled on another thread, and its completion handler is still to come.
    private func continueTask(_ earlier: ImageTask, with load: Load) -> Bool {
        let handlers = handlers(for: load)
        guard let next = ImageTask(takingOver: earlier, for: load.request, handlers: handlers) else { return false }
        task = next
        request = load.request
        let before = presentation
        presentation = load.presentation
        earlier.cancel()
        // The earlier completion handler may have started another load.
        guard isCurrent(load), !before.hasSameAppearance(as: presentation) else { return true }
        if !isCachedImageShown {
            showStart(of: load)
        } else if before.indicator != presentation.indicator {
            // The cached image stays: if the server confirms it, it is not drawn again.
            showIndicator(presentation.indicator.initialIndicator)
        }
        return true
    }

    private func handlers(for load: Load) -> ImageTask.Handlers {
        ImageTask.Handlers { [weak self] response in
            if let self, isCurrent(load) { showCached(response.image, of: load) }
        } preview: { [weak self] image in
            if let self, isCurrent(load) { showPreview(image, of: load) }
        } progress: { [weak self] update in
            if let self, isCurrent(load) { showProgress(update, presentation: load.presentation) }
            load.progress?(update)
        } completion: { [weak self] result in
            let finish: @MainActor () -> Void = { load.completion?(result) }
            // An outdated load ends without being shown.
            guard let self, isCurrent(load) else { return finish() }
            end(load, result: result, then: finish)
        }
    }
}

// MARK: Showing
extension ImageSlot {
    private func clear(
        _ presentation: Presentation,
        completion: (@MainActor (Result<ImageResponse, EideticError>) -> Void)?
    ) {
        let current = generation
        task?.cancel()
        // The completion handler of the cancelled load may have started another one.
        guard generation == current else { completion?(.failure(.cancelled)); return }
        request = nil
        self.presentation = presentation
        task = nil
        state = .empty
        show(presentation.failureImage ?? presentation.placeholder)
        showIndicator(nil)
        completion?(.failure(EideticError(.invalidURL, message: "the slot was emptied: there is no URL")))
    }

    /// Shows the placeholder and the indicator or, with `refreshCached`, the image in memory.
    private func showStart(of load: Load) {
        let presentation = load.presentation
        if load.request.revalidatesCached, let image = load.pipeline.cachedImage(for: load.prepared) {
            return showCached(image, of: load)
        }
        if presentation.usesCachedPreview, let preview = load.pipeline.cachedPreview(for: load.prepared) {
            show(preview)
        } else {
            if presentation.showsPlaceholderAtStart {
                show(presentation.placeholder)
                if presentation.usesStoredPlaceholder { showStoredPlaceholder(of: load) }
            }
            if presentation.usesCachedPreview { showStoredPreview(of: load) }
        }
        showIndicator(presentation.indicator.initialIndicator)
    }

    /// Shows the image that only the disk has, unless the load has shown something meanwhile.
    private func showStoredPreview(of load: Load) {
        Task { [weak self] in
            guard let image = await load.pipeline.storedPreview(for: load.prepared), let self, isCurrent(load),
                task != nil, !isCachedImageShown, !isPreviewShown
            else { return }
            show(image)
        }
    }

    /// Shows the placeholder that is stored with the image, unless anything else was shown meanwhile.
    private func showStoredPlaceholder(of load: Load) {
        let key = ImageCache.Key(load.request)
        let cache = load.pipeline.cache
        let shown = shownImage?.pixels
        Task { [weak self] in
            guard let placeholder = try? await cache.placeholder(for: key), let image = try? placeholder.image(),
                let self, isCurrent(load), task != nil, !isPreviewShown, shownImage?.pixels === shown
            else { return }
            show(image)
        }
    }

    private func showCached(_ image: Image, of load: Load) {
        guard !isCachedImageShown, load.presentation.setsImage else { return }
        isCachedImageShown = true
        show(image)
    }

    private func showPreview(_ image: Image, of load: Load) {
        guard load.presentation.setsImage else { return }
        if !hasHadPreview, image.streamed == nil, image.pixels.alpha == .opaque { wholePreview = image }
        hasHadPreview = true
        isPreviewShown = true
        let background = wholePreview ?? shownImage
        gate.draw(.image, of: self) { [weak display, animator] _ in
            // Once it plays, the frames that arrive are those of the animation.
            if animator.isPlaying(image) { return }
            display?.displayPreview(image, over: background)
            animator.play(image)
        }
    }

    private func showProgress(_ update: LoadProgress, presentation: Presentation) {
        guard presentation.indicator == .progress else { return }
        let fraction = update.expected.map { $0 > 0 ? min(1, Double(update.received) / Double($0)) : 1 }
        showIndicator(.progress(fraction))
    }

    private func end(
        _ load: Load,
        result: Result<ImageResponse, EideticError>,
        then finish: @escaping @MainActor () -> Void
    ) {
        task = nil
        showIndicator(nil)
        switch result {
        case .success(let response):
            state = .shown(response.source)
            showResult(response, of: load, then: finish)
        case .failure(let error):
            state = error.code == .cancelled ? .empty : .failed(error)
            if error.code != .cancelled { showFailure(of: load) }
            finish()
        }
    }

    private func showResult(
        _ response: ImageResponse,
        of load: Load,
        then finish: @escaping @MainActor () -> Void
    ) {
        let presentation = load.presentation
        guard presentation.setsImage else { return finish() }
        // After a revalidation that changed nothing, or failed, the cached image is shown already.
        switch response.revalidation {
        case .unchanged, .failed: if isCachedImageShown { return finish() }
        case .changed, nil: break
        }
        let isAnimated = response.source != .memory || presentation.transitionsFromMemory
        let transition = isAnimated ? presentation.transition : nil
        guard transition != nil, presentation.completesAfterTransition, !gate.isHeld else {
            show(response.image, transition: transition)
            return finish()
        }
        show(response.image, transition: transition, then: finish)
    }

    private func showFailure(of load: Load) {
        if let image = load.presentation.failureImage {
            show(image)
        } else if load.presentation.delaysPlaceholder {
            show(load.presentation.placeholder)
        } else if isPreviewShown {
            show(shownImage)
        }
    }

    private func show(
        _ image: Image?,
        transition: ImageTransition? = nil,
        then completion: @escaping @MainActor () -> Void = {}
    ) {
        shownImage = image
        isPreviewShown = false
        wholePreview = nil
        draw(image, transition: transition, then: completion)
    }

    private func draw(
        _ image: Image?,
        transition: ImageTransition? = nil,
        then completion: @escaping @MainActor () -> Void = {}
    ) {
        gate.draw(.image, of: self) { [weak display, animator] isLate in
            guard let display else { return completion() }
            if let image, animator.isPlaying(image) { return completion() }
            display.display(image, transition: isLate ? nil : transition, completion: completion)
            animator.play(image)
        }
    }

    private func showIndicator(_ indicator: ImageIndicator?) {
        gate.draw(.indicator, of: self) { [weak display] _ in display?.displayIndicator(indicator) }
    }
}

extension ImageRequest {
    /// Returns whether the bytes of an equal request are loaded from the same place in the same way, and decoded in the
    /// same process.
    fileprivate func hasSameSource(as other: ImageRequest) -> Bool {
        resource.remote == other.resource.remote && decodePolicy == other.decodePolicy
    }
}
