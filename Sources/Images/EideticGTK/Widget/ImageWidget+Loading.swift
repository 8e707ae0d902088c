#if GTK
import Eidetic
import EideticViews
import EideticCore

extension ImageWidget {
    /// Starts a load at the widget's size, which is repeated when the screen has more or fewer pixels for it.
    func start(_ load: WidgetLoad, for request: ImageRequest, size: PixelSize?) {
        let slot = state.slot(for: load.part, pipeline: ownPipeline)
        let ownGeneration = slot.generation + 1
        start(load, for: request.sized(to: size, fittedAs: state.contentMode))
        // The completion may have started another.
        guard slot.generation == ownGeneration, state.widget != nil else { return }
        let pipeline = ownPipeline
        slot.followScale { [weak state] in
            guard let state, let size = state.knownSize else { return }
            let presentation = ImageSlot.Presentation(keepsCurrentImage: true, setsImage: load.presentation.setsImage)
            let load = WidgetLoad(part: load.part, presentation: presentation)
            ImageWidget(state: state, pipeline: pipeline).start(load, for: request, size: size)
        }
    }

    /// Starts a load; with `nil` the placeholder is shown.
    func start(_ load: WidgetLoad, for request: ImageRequest?) {
        guard state.widget != nil else { return _ = request.map { _ in load.completion?(.failure(.cancelled)) } }
        let slot = state.slot(for: load.part, pipeline: ownPipeline)
        MainThreadWatch.measure {
            slot.startLoad {
                slot.imageSlot.load(
                    request,
                    presentation: load.presentation,
                    completion: load.completion,
                    progress: load.progress
                )
            }
        }
    }

    /// Shows the placeholder now, and starts the load after the layout of the widget.
    func startWhenSized(_ load: WidgetLoad, for request: ImageRequest) {
        guard state.widget != nil else { return _ = load.completion?(.failure(.cancelled)) }
        let slot = state.slot(for: load.part, pipeline: ownPipeline)
        let state = state
        let pipeline = ownPipeline
        let ownGeneration = slot.generation
        load.presentation.showsPlaceholderAtStart
            ? slot.imageSlot.load(nil, presentation: previewPresentation(of: load, for: request))
            : slot.imageSlot.cancel()
        // The completion of the cancelled load may have started another.
        guard slot.generation == ownGeneration else { return _ = load.completion?(.failure(.cancelled)) }
        slot.deferLoad {
            ImageWidget(state: state, pipeline: pipeline).start(load, for: request, size: state.fallbackSize)
        } cancel: {
            load.completion?(.failure(.cancelled))
        }
    }

    /// Returns the presentation of a load that waits for its size: the image in another size, if it is in memory.
    private func previewPresentation(of load: WidgetLoad, for request: ImageRequest) -> ImageSlot.Presentation {
        var shown = load.presentation
        shown.failureImage = nil
        if shown.usesCachedPreview {
            shown.placeholder = pipeline.cachedPreview(for: request) ?? shown.placeholder
        }
        return shown
    }
}

extension ImageRequest {
    /// Returns the request for the size of a view, fitted as the view fits its content, unless it says how itself.
    func sized(to size: PixelSize?, fittedAs mode: ContentMode) -> ImageRequest {
        var rendering = rendering
        rendering.size = size
        if rendering.contentMode == .fit { rendering.contentMode = mode }
        return with(rendering: rendering)
    }
}
#endif
