#if GTK
import Eidetic
import EideticViews
import EideticCore

/// The load of one cell's image.
@MainActor
final class ImageCell {
    /// A position of a cell in relation to the visible area.
    enum Zone { case visible, near, far }

    typealias Completion = @MainActor (ImageRequest, Result<ImageResponse, EideticError>) -> Void

    private enum State { case idle, loading, shown, failed }

    var zone = Zone.far
    /// A Boolean value indicating whether the image must be revalidated.
    var needsRefresh = false
    let key: UnsafeMutableRawPointer
    let position: Int
    private let view: ImageWidget
    private let request: ImageRequest
    private var state = State.idle
    private var priority = LoadPriority.normal

    init(key: UnsafeMutableRawPointer, position: Int, view: ImageWidget, request: ImageRequest) {
        self.key = key
        self.position = position
        self.view = view
        self.request = request
    }

    var isLoading: Bool { state == .loading }
    var isPending: Bool { state == .idle || state == .loading }

    /// A Boolean value indicating whether the state of the load does not match the zone.
    var needsUpdate: Bool {
        switch zone {
        case .visible: state == .idle || needsRefresh || (state == .loading && priority == .low)
        case .near: state == .idle || (state == .loading && priority != .low)
        case .far: state == .loading
        }
    }

    /// Starts the load, or changes the priority of the running one.
    func start(priority: LoadPriority, presentation: ImageSlot.Presentation, completion: @escaping Completion) {
        self.priority = priority
        let shouldRefresh = needsRefresh && zone == .visible
        if state == .loading, !shouldRefresh { return _ = view.task().map { $0.priority = priority } }
        // The whole image, unless the request says otherwise: cells are bound before they have a size.
        var presentation = presentation
        presentation.usesViewSize = false
        var effectiveRequest = priority == request.priority ? request : request.with(priority: priority)
        if shouldRefresh {
            needsRefresh = false
            effectiveRequest = effectiveRequest.with(options: request.options.union([.refreshCached, .retryFailed]))
            presentation.keepsCurrentImage = true
        }
        state = .loading
        view.setImage(effectiveRequest, presentation: presentation) { [weak self, request] result in
            self?.finish(with: result)
            completion(request, result)
        }
    }

    private func finish(with result: Result<ImageResponse, EideticError>) {
        switch result {
        case .success: state = .shown
        case .failure(let error): state = error.code == .cancelled ? .idle : .failed
        }
    }

    func showPlaceholder(presentation: ImageSlot.Presentation) {
        var waiting = presentation
        waiting.failureImage = nil
        view.setImage(nil, presentation: waiting)
    }

    func cancel() {
        guard state == .loading else { return }
        view.cancel()
        state = .idle
    }
}
#endif
