#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticGTK

/// The view of one large image, which starts from the grid's image and leads to its neighbours.
@MainActor
final class DetailView {
    private unowned let gallery: Gallery
    private(set) var position: Int?
    private var neighbours: ImagePrefetcher.Group?
    /// The number of loads that were started; the last one is that of the image that is shown.
    private var loadCount = 0
    /// A Boolean value indicating whether the load was cancelled by nobody here: the background time has expired.
    private var isInterrupted = false

    init(gallery: Gallery) {
        self.gallery = gallery
        let interface = gallery.interface
        Signal.connect(interface.object("earlier"), signal: "clicked") { [unowned self] _ in move(by: -1) }
        Signal.connect(interface.object("later"), signal: "clicked") { [unowned self] _ in move(by: 1) }
        guard let swipe = gtk_gesture_swipe_new() else { return }
        gtk_gesture_single_set_touch_only(swipe, 1)
        Signal.connectPair(UnsafeMutableRawPointer(swipe), signal: "swipe") { [unowned self] across, down in
            if abs(across) > abs(down), abs(across) > 300 { move(by: across < 0 ? 1 : -1) }
        }
        gtk_widget_add_controller(interface.widget("stage"), swipe)
    }

    /// Shows the image at a position in the list.
    func show(at position: Int) {
        guard gallery.grid.urls.indices.contains(position) else { return }
        self.position = position
        let url = gallery.grid.urls[position]
        let name = url.imageName
        gallery.setText(of: "title", to: name)
        gallery.setText(of: "name", to: name)
        gallery.setText(of: "fact", to: "\(position + 1) of \(gallery.grid.urls.count)")
        gtk_picture_set_alternative_text(gallery.interface.opaque("detail"), name)
        eidetic_set_accessible_name(gallery.interface.object("detail"), name)
        gtk_widget_set_sensitive(gallery.interface.widget("earlier"), position > 0 ? 1 : 0)
        gtk_widget_set_sensitive(gallery.interface.widget("later"), position + 1 < gallery.grid.urls.count ? 1 : 0)
        load(ImageRequest(url))
    }

    /// Moves to a neighbour.
    ///
    /// - Returns: `true` if the view is open; otherwise, `false`.
    @discardableResult
    func move(by step: Int) -> Bool {
        guard let position else { return false }
        show(at: position + step)
        return true
    }

    /// Revalidates the image.
    func refresh() {
        guard let position else { return }
        load(
            ImageRequest(gallery.grid.urls[position], options: [.refreshCached, .retryFailed]),
            keepsCurrentImage: true
        )
    }

    func close() {
        position = nil
        neighbours?.cancel()
        view.cancel()
    }

    private var view: ImageWidget { ImageWidget(gallery.interface.opaque("detail"), pipeline: gallery.pipeline) }

    private func load(_ image: ImageRequest, keepsCurrentImage: Bool = false) {
        loadCount += 1
        isInterrupted = false
        var request = image
        request.priority = .high
        request.options.formUnion([.continueInBackground, .progressive])
        // The grid's image is shown at once, until the large one is loaded.
        let presentation = ImageSlot.Presentation(
            indicator: .progress,
            transition: .crossFade(.milliseconds(180)),
            usesCachedPreview: true,
            keepsCurrentImage: keepsCurrentImage
        )
        let count = loadCount
        view.setImage(request, presentation: presentation) { [weak self] result in
            guard let self, position != nil, loadCount == count else { return }
            loadEnded(url: image.name, result: result)
        }
    }

    private func loadEnded(url: String, result: Result<ImageResponse, EideticError>) {
        let request = ImageRequest(url)
        switch result {
        case .success(let response):
            let size = response.image.sourceSize
            gallery.setText(
                of: "fact",
                to: "\(size.width) × \(size.height) · \("\(response.image.format)".uppercased()) · "
                    + "\(response.byteCount) · from \(response.source)"
            )
            gallery.loadEnded(request, change: .shown(response))
            gallery.report("detail shown: \(url.imageName)")
            prefetchNeighbours()
        case .failure(let error):
            guard error.code != .cancelled else {
                isInterrupted = true
                // The window may have been shown again meanwhile.
                if !gallery.isUnseen { loadInterrupted() }
                return
            }
            gallery.setText(
                of: "fact",
                to: error.isUnreachable ? "not in the cache, and the server cannot be reached" : error.message
            )
            gallery.loadEnded(request, change: .failed(error))
        }
    }

    /// Loads the image that has not come because the background time has expired; the window is seen again.
    func loadInterrupted() {
        guard isInterrupted, let position else { return }
        show(at: position)
    }

    /// Prefetches the neighbours' encoded images to disk, so that the next step needs no download.
    private func prefetchNeighbours() {
        guard let position else { return }
        neighbours?.cancel()
        let requests = [position + 1, position - 1].filter(gallery.grid.urls.indices.contains)
            .map { ImageRequest(gallery.grid.urls[$0]) }
        neighbours = ImagePrefetcher(pipeline: gallery.pipeline, destination: .disk).prefetch(requests)
    }
}
#endif
