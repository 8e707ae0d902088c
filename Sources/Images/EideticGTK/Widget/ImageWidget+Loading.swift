#if GTK
import Eidetic
import EideticCore

extension ImageWidget {
    /// Starts a load at a known size.
    func start(_ load: WidgetLoad, for request: UnsizedRequest, size: PixelSize?) {
        start(load, for: request.makeRequest(size: size))
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
                    progress: load.progress,
                    completion: load.completion
                )
            }
        }
    }

    /// Shows the placeholder now, and starts the load after the layout of the widget.
    func startWhenSized(_ load: WidgetLoad, for request: UnsizedRequest) {
        guard state.widget != nil else { return _ = load.completion?(.failure(.cancelled)) }
        let slot = state.slot(for: load.part, pipeline: ownPipeline), state = state, pipeline = ownPipeline
        let ownGeneration = slot.generation
        request.options.isDisjoint(with: [.keepCurrentImage, .delayPlaceholder])
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
    private func previewPresentation(of load: WidgetLoad, for request: UnsizedRequest) -> ImageSlot.Presentation {
        var shown = load.presentation
        if shown.usesCachedPreview {
            shown.placeholder = pipeline.cachedPreview(for: request.makeRequest(size: nil)) ?? shown.placeholder
        }
        return shown
    }
}
#endif
