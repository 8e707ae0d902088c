#if GTK
internal import CGTK
public import Eidetic
public import EideticCore
public import EideticFetch

/// What is to be loaded, but for the size.
struct LoadPlan {
    let url: String
    let options: ImageOptions
    let transform: (any ImageTransform)?
    let mode: ContentMode

    func request(_ size: PixelSize?) throws(EideticError) -> ImageRequest {
        let plays = options.contains(.firstFrameOnly) ? options : options.union(.preloadAllFrames)
        let rendering = ImageRequest.Rendering(size: size, contentMode: mode, transform: transform)
        return ImageRequest(try ImageResource(url: url), rendering: rendering, options: plays)
    }
}

extension ImageWidget {
    typealias Progress = @MainActor (FetchProgress) -> Void
    typealias Completion = @MainActor (Result<ImageResponse, EideticError>) -> Void

    func set(
        _ plan: LoadPlan,
        _ size: PixelSize?,
        _ part: Part,
        _ presentation: ImageSlot.Presentation,
        _ progress: Progress?,
        _ completion: Completion?
    ) {
        do throws(EideticError) {
            set(try plan.request(size), part, presentation, progress, completion)
        } catch {
            var shown = presentation
            shown.placeholder = presentation.failureImage ?? presentation.placeholder
            set(nil, part, shown, nil, nil)
            completion?(.failure(error))
        }
    }

    func set(
        _ request: ImageRequest?,
        _ part: Part,
        _ presentation: ImageSlot.Presentation,
        _ progress: Progress?,
        _ completion: Completion?
    ) {
        guard state.widget != nil else { return _ = request.map { _ in completion?(.failure(.cancelled)) } }
        let slot = state.slot(part, pipeline)
        MainThreadWatch.measure {
            slot.begin {
                slot.slot.load(request, presentation: presentation, progress: progress, completion: completion)
            }
        }
    }

    /// Shows the placeholder now, and loads when the widget is laid out.
    func setWhenSized(
        _ plan: LoadPlan,
        _ part: Part,
        _ presentation: ImageSlot.Presentation,
        _ progress: Progress?,
        _ completion: Completion?
    ) {
        guard state.widget != nil else { return _ = completion?(.failure(.cancelled)) }
        let slot = state.slot(part, pipeline), state = state, pipeline = pipeline
        let mine = slot.turn
        var shown = presentation
        if shown.usesCachedPreview, let request = try? plan.request(nil) {
            shown.placeholder = pipeline.cachedPreview(for: request) ?? shown.placeholder
        }
        plan.options.isDisjoint(with: [.keepCurrentImage, .delayPlaceholder])
            ? slot.slot.load(nil, presentation: shown) : slot.slot.cancel()
        // The cancelled load's completion may have begun another.
        guard slot.turn == mine else { return _ = completion?(.failure(.cancelled)) }
        slot.wait {
            ImageWidget(state: state, pipeline: pipeline)
                .set(plan, state.fallbackSize, part, presentation, progress, completion)
        } cancel: {
            completion?(.failure(.cancelled))
        }
    }

    private init(state: WidgetState, pipeline: ImagePipeline) {
        self.state = state
        self.pipeline = pipeline
    }
}

extension ImageWidget {
    /// Loads the picture at `url`, shows it, and returns when that is done.
    ///
    /// Parameters as above. Throws `cancelled` when the task is cancelled, the widget is destroyed, or another picture is
    /// set into it.
    @discardableResult
    public func show(
        _ url: String,
        for part: Part = .normal,
        placeholder: Image? = nil,
        options: ImageOptions = [],
        size: PixelSize? = nil,
        transform: (any ImageTransform)? = nil,
        presentation: ImageSlot.Presentation = .init(),
        progress: (@MainActor (FetchProgress) -> Void)? = nil
    ) async throws(EideticError) -> ImageResponse {
        let turn = AsyncTurn()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                turn.began = true
                setImage(
                    url,
                    for: part,
                    placeholder: placeholder,
                    options: options,
                    size: size,
                    transform: transform,
                    presentation: presentation,
                    progress: progress,
                    completion: { result in
                        turn.isOver = true
                        continuation.resume(returning: result)
                    }
                )
                turn.slot = state.existingSlot(part)
                turn.number = turn.slot?.turn ?? 0
                if Task.isCancelled { turn.cancel() }
            }
        } onCancel: {
            Task { @MainActor in turn.cancel() }
        }
        return try result.get()
    }
}

/// The load that an asynchronous call began.
@MainActor
private final class AsyncTurn {
    weak var slot: WidgetSlot?
    var number: UInt64 = 0
    var began = false
    var isOver = false

    /// Ends the load, unless it is over or another took its place.
    func cancel() {
        guard began, !isOver, let slot, slot.turn == number else { return }
        slot.cancel()
    }
}
#endif
