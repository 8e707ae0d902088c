#if GTK
import Eidetic
import EideticCore

/// One cell and the picture that it is to show.
@MainActor
final class ImageCell {
    /// Where a cell is.
    enum Zone { case seen, near, far }

    private enum State { case idle, loading, shown, failed }

    var zone = Zone.far
    /// Whether the server is to be asked again.
    var isStale = false
    let key: UnsafeMutableRawPointer
    let position: Int
    private let view: ImageWidget
    private let request: ImageRequest
    private var state = State.idle
    private var priority = LoadPriority.normal

    init(_ key: UnsafeMutableRawPointer, _ position: Int, _ view: ImageWidget, _ request: ImageRequest) {
        self.key = key
        self.position = position
        self.view = view
        self.request = request
    }

    var isLoading: Bool { state == .loading }
    var isMissing: Bool { state == .idle || state == .loading }

    /// Whether the load does not fit the place.
    var needsAction: Bool {
        switch zone {
        case .seen: state == .idle || isStale || (state == .loading && priority == .low)
        case .near: state == .idle || (state == .loading && priority != .low)
        case .far: state == .loading
        }
    }

    func start(
        _ priority: LoadPriority,
        _ presentation: ImageSlot.Presentation,
        _ end: @escaping @MainActor (ImageRequest, Result<ImageResponse, EideticError>) -> Void
    ) {
        self.priority = priority
        let refreshes = isStale && zone == .seen
        if state == .loading, !refreshes { return _ = view.load().map { $0.priority = priority } }
        var wanted = priority == request.priority ? request : request.with(priority: priority)
        if refreshes {
            isStale = false
            wanted = wanted.with(options: request.options.union([.refreshCached, .keepCurrentImage, .retryFailed]))
        }
        state = .loading
        view.setImage(wanted, presentation: presentation) { [weak self, request] result in
            self?.finish(result)
            end(request, result)
        }
    }

    private func finish(_ result: Result<ImageResponse, EideticError>) {
        switch result {
        case .success: state = .shown
        case .failure(let error): state = error.code == .cancelled ? .idle : .failed
        }
    }

    /// Shows that nothing is there yet.
    func clear(_ presentation: ImageSlot.Presentation) {
        view.setImage(nil as ImageRequest?, presentation: presentation)
    }

    func cancel() {
        guard state == .loading else { return }
        view.cancel()
        state = .idle
    }
}
#endif
