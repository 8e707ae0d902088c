public import EideticCore
public import EideticFetch

/// A place where one picture at a time is seen, with the rules that every view needs and no view should repeat.
///
/// - A new load cancels the earlier one, whose completion says `cancelled` before the new one begins; its late result
///   never appears (L14).
/// - The same request again, from the same place, goes on with the load that is under way, as urgent as it says: only the
///   earlier completion says `cancelled`, and what is seen stays.
/// - A picture in memory appears before ``set(_:_:progress:completion:)`` returns, without placeholder or transition (L15).
/// - While the application is in the background nothing is drawn; on return the last state is drawn once (L25).
///
/// A view that shows several pictures has several slots. The slot does not keep its display alive; when the display is
/// gone, the load is cancelled by giving the slot up.
@MainActor
public final class ImageSlot {
    /// What the slot does now.
    public private(set) var state = State.empty

    /// What it loads or shows.
    public private(set) var request: ImageRequest?

    /// The load that goes on; its priority may be changed.
    public private(set) var load: ImageTask?

    private weak var display: (any ImageDisplay)?
    private let pipeline: ImagePipeline
    private let gate: DisplayGate
    private var generation: UInt64 = 0
    private var isCachedImageShown = false
    /// What is seen where no preview is.
    private var shownImage: Image?
    private var isPreviewShown = false
    private var presentation = Presentation()

    /// Creates a slot for `display`.
    public init(
        display: any ImageDisplay,
        pipeline: ImagePipeline = .shared,
        gate: DisplayGate = .shared
    ) {
        self.display = display
        self.pipeline = pipeline
        self.gate = gate
    }

    isolated deinit {
        load?.cancel()
        gate.discard(self)
    }

    /// Loads a picture and shows it; with `nil` the slot is emptied.
    ///
    /// `completion` is called exactly once where there is a request.
    public func load(
        _ request: ImageRequest?,
        presentation: Presentation = Presentation(),
        completion: (@MainActor (Result<ImageResponse, EideticError>) -> Void)? = nil
    ) {
        load(request, presentation: presentation, progress: nil, completion: completion)
    }

    /// Loads a picture, tells how far it is, and shows it.
    ///
    /// `completion` is called exactly once where there is a request.
    public func load(
        _ request: ImageRequest?,
        presentation: Presentation = Presentation(),
        progress: (@MainActor (FetchProgress) -> Void)?,
        completion: (@MainActor (Result<ImageResponse, EideticError>) -> Void)?
    ) {
        generation += 1
        // What is shown is decoded, and not by the thread that draws.
        let mine = generation, request = request?.decodingImmediately
        if let load, let request, canContinue(load.request, for: request) {
            return goOn(load, request, mine, presentation, progress, completion)
        }
        if request?.options.contains(.avoidAutoCancel) != true { load?.cancel() }
        // The cancelled load's completion may have given the slot another request.
        guard generation == mine else { completion?(.failure(.cancelled)); return }
        self.request = request
        self.presentation = presentation
        load = nil
        guard let request else { return clear(presentation) }
        state = .loading
        // Processors of requests may have put the option back.
        let hit = pipeline.synchronousHit(request).flatMap { $0.image.isDecoded ? $0 : nil }
        isCachedImageShown = false
        if hit == nil { start(request, presentation) }
        // So may the display, told to show the placeholder.
        guard generation == mine else { completion?(.failure(.cancelled)); return }
        let handlers = handlers(request, mine, presentation, progress, completion)
        let begun = ImageTask(pipeline, request, hit: hit, decodes: true, handlers)
        if generation == mine, begun.result == nil { load = begun }
    }

    /// Ends the load; what is shown stays.
    public func cancel() { load?.cancel() }

    private func handlers(
        _ request: ImageRequest,
        _ mine: UInt64,
        _ presentation: Presentation,
        _ progress: (@MainActor (FetchProgress) -> Void)?,
        _ completion: (@MainActor (Result<ImageResponse, EideticError>) -> Void)?
    ) -> ImageTask.Handlers {
        ImageTask.Handlers { [weak self] response in
            if self?.generation == mine { self?.showCached(response.image, for: request) }
        } preview: { [weak self] image in
            if self?.generation == mine { self?.showPreview(image, for: request) }
        } progress: { [weak self] update in
            if self?.generation == mine { self?.showProgress(update, presentation: presentation) }
            progress?(update)
        } completion: { [weak self] result in
            let finish: @MainActor () -> Void = { completion?(result) }
            // A load that this slot no longer waits for ends without being seen.
            guard let self, self.generation == mine else { return finish() }
            self.end(result, request, presentation, then: finish)
        }
    }

    /// Whether the load of an earlier request serves a new caller as well as one of its own.
    private func canContinue(_ earlier: ImageRequest, for request: ImageRequest) -> Bool {
        earlier == request && earlier.hasSameSource(as: request) && !request.options.contains(.avoidAutoCancel)
            && !pipeline.isAnsweredAtOnce(request)
    }

    /// Goes on with a load for a new caller, who has its own priority and presentation.
    private func goOn(
        _ earlier: ImageTask,
        _ request: ImageRequest,
        _ mine: UInt64,
        _ presentation: Presentation,
        _ progress: (@MainActor (FetchProgress) -> Void)?,
        _ completion: (@MainActor (Result<ImageResponse, EideticError>) -> Void)?
    ) {
        load = ImageTask(takingOver: earlier, request, handlers(request, mine, presentation, progress, completion))
        self.request = request
        let before = self.presentation
        self.presentation = presentation
        earlier.cancel()
        // Its completion may have given the slot another request.
        guard generation == mine, !before.hasSameAppearance(as: presentation) else { return }
        if !isCachedImageShown {
            start(request, presentation)
        } else if before.indicator != presentation.indicator {
            // The cached picture stays in view: where the server confirms it, it is not drawn again.
            begin(presentation.indicator)
        }
    }
}

// MARK: What is seen
extension ImageSlot {
    private func clear(_ presentation: Presentation) {
        state = .empty
        show(presentation.placeholder)
        showIndicator(nil)
    }

    /// Shows what is seen until the load ends: with `refreshCached` the picture in memory, else the placeholder.
    private func start(_ request: ImageRequest, _ presentation: Presentation) {
        if request.wantsRefresh, let image = pipeline.cachedImage(for: request) {
            showCached(image, for: request)
        } else {
            begin(request, presentation)
        }
    }

    private func begin(_ request: ImageRequest, _ presentation: Presentation) {
        if presentation.usesCachedPreview, let preview = pipeline.cachedPreview(for: request) {
            show(preview)
        } else if request.options.isDisjoint(with: [.delayPlaceholder, .keepCurrentImage]) {
            show(presentation.placeholder)
        }
        begin(presentation.indicator)
    }

    private func begin(_ indicator: IndicatorStyle) {
        switch indicator {
        case .none: showIndicator(nil)
        case .spinner: showIndicator(.spinner)
        case .progress: showIndicator(.progress(nil))
        }
    }

    private func showCached(_ image: Image, for request: ImageRequest) {
        guard !isCachedImageShown, !request.options.contains(.avoidAutoSetImage) else { return }
        isCachedImageShown = true
        show(image)
    }

    private func showPreview(_ image: Image, for request: ImageRequest) {
        guard !request.options.contains(.avoidAutoSetImage) else { return }
        isPreviewShown = true
        draw(image)
    }

    private func showProgress(_ update: FetchProgress, presentation: Presentation) {
        guard presentation.indicator == .progress else { return }
        let part = update.expected.map { $0 > 0 ? min(1, Double(update.received) / Double($0)) : 1 }
        showIndicator(.progress(part))
    }

    private func end(
        _ result: Result<ImageResponse, EideticError>,
        _ request: ImageRequest,
        _ presentation: Presentation,
        then finish: @escaping @MainActor () -> Void
    ) {
        load = nil
        showIndicator(nil)
        switch result {
        case .success(let response):
            state = .shown(response.source)
            succeed(response, request, presentation, then: finish)
        case .failure(let error):
            state = error.code == .cancelled ? .empty : .failed(error)
            if error.code != .cancelled { showFailure(of: request, presentation: presentation) }
            finish()
        }
    }

    private func succeed(
        _ response: ImageResponse,
        _ request: ImageRequest,
        _ presentation: Presentation,
        then finish: @escaping @MainActor () -> Void
    ) {
        guard !request.options.contains(.avoidAutoSetImage) else { return finish() }
        // A cached picture that the server confirmed, or could not be asked about, is seen already.
        switch response.revalidation {
        case .unchanged, .failed: if isCachedImageShown { return finish() }
        case .changed, nil: break
        }
        let isAnimated = response.source != .memory || request.options.contains(.forceTransition)
        let transition = isAnimated ? presentation.transition : nil
        guard transition != nil, request.options.contains(.waitTransition), !gate.isHeld else {
            show(response.image, transition: transition)
            return finish()
        }
        show(response.image, transition: transition, then: finish)
    }

    private func showFailure(of request: ImageRequest, presentation: Presentation) {
        if let image = presentation.failureImage {
            show(image)
        } else if request.options.contains(.delayPlaceholder) {
            show(presentation.placeholder)
        } else if isPreviewShown {
            show(shownImage)
        }
    }

    private func show(
        _ image: Image?,
        transition: ImageTransition? = nil,
        then completion: @escaping @MainActor () -> Void = {}
    ) {
        (shownImage, isPreviewShown) = (image, false)
        draw(image, transition: transition, then: completion)
    }

    private func draw(
        _ image: Image?,
        transition: ImageTransition? = nil,
        then completion: @escaping @MainActor () -> Void = {}
    ) {
        gate.draw(self, part: .image) { [weak display] isLate in
            guard let display else { return completion() }
            display.display(image, transition: isLate ? nil : transition, completion: completion)
        }
    }

    private func showIndicator(_ indicator: ImageIndicator?) {
        gate.draw(self, part: .indicator) { [weak display] _ in display?.displayIndicator(indicator) }
    }
}

extension ImageRequest {
    /// Whether the bytes of an equal request come from the same place and are asked for in the same way.
    fileprivate func hasSameSource(as other: ImageRequest) -> Bool {
        switch (resource, other.resource) {
        case (.candidates(let files), .candidates(let others)): files == others
        case (.candidates, _), (_, .candidates): false
        default: resource.remotes == other.resource.remotes
        }
    }
}
