#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticGTK

/// One picture large: it starts from the grid's, and goes on to its neighbours.
@MainActor
final class DetailView {
    private unowned let gallery: Gallery
    private(set) var position: Int?
    private var neighbours: PrefetchGroup?

    init(_ gallery: Gallery) {
        self.gallery = gallery
        let interface = gallery.interface
        Signal.connect(interface.object("earlier"), "clicked") { [unowned self] _ in move(by: -1) }
        Signal.connect(interface.object("later"), "clicked") { [unowned self] _ in move(by: 1) }
        guard let swipe = gtk_gesture_swipe_new() else { return }
        gtk_gesture_single_set_touch_only(swipe, 1)
        Signal.connectPair(UnsafeMutableRawPointer(swipe), "swipe") { [unowned self] across, down in
            if abs(across) > abs(down), abs(across) > 300 { move(by: across < 0 ? 1 : -1) }
        }
        gtk_widget_add_controller(interface.widget("stage"), swipe)
    }

    /// Shows the picture at a place in the list.
    func show(_ position: Int) {
        guard gallery.grid.urls.indices.contains(position) else { return }
        self.position = position
        let url = gallery.grid.urls[position], name = url.pictureName
        gallery.setText("title", name)
        gallery.setText("name", name)
        gallery.setText("fact", "\(position + 1) of \(gallery.grid.urls.count)")
        gtk_picture_set_alternative_text(gallery.interface.opaque("detail"), name)
        eidetic_set_accessible_name(gallery.interface.object("detail"), name)
        gtk_widget_set_sensitive(gallery.interface.widget("earlier"), position > 0 ? 1 : 0)
        gtk_widget_set_sensitive(gallery.interface.widget("later"), position + 1 < gallery.grid.urls.count ? 1 : 0)
        load(url, [])
    }

    /// Goes to a neighbour; gives whether one picture is shown at all.
    @discardableResult
    func move(by step: Int) -> Bool {
        guard let position else { return false }
        show(position + step)
        return true
    }

    /// Asks the server whether the picture has changed.
    func refresh() {
        guard let position else { return }
        load(gallery.grid.urls[position], [.refreshCached, .keepCurrentImage, .retryFailed])
    }

    func leave() {
        position = nil
        neighbours?.cancel()
        view.cancel()
    }

    private var view: ImageWidget { ImageWidget(gallery.interface.opaque("detail"), pipeline: gallery.pipeline) }

    private func load(_ url: String, _ options: ImageOptions) {
        // The grid's picture is there at once, and becomes sharp.
        let presentation = ImageSlot.Presentation(
            failureImage: nil,
            indicator: .progress,
            transition: .crossFade(.milliseconds(180)),
            startsFromCache: true
        )
        let position = position
        view.setImage(url, options: options.union([.highPriority]), presentation: presentation) { [weak self] result in
            guard let self, self.position == position else { return }
            end(url, result)
        }
    }

    private func end(_ url: String, _ result: Result<ImageResponse, EideticError>) {
        guard let request = try? ImageRequest(url) else { return }
        switch result {
        case .success(let response):
            let size = response.image.sourceSize
            gallery.setText(
                "fact",
                "\(size.width) × \(size.height) · \(response.image.format.rawValue.uppercased()) · "
                    + "\(response.byteCount) · from \(response.source.rawValue)"
            )
            gallery.note(request, .shown(response))
            gallery.say("detail shown: \(url.pictureName)")
            fetchNeighbours()
        case .failure(let error):
            guard error.code != .cancelled else { return }
            gallery.setText(
                "fact",
                error.isUnreachable ? "not in the cache, and the server cannot be reached" : error.message
            )
            gallery.note(request, .failed(error))
        }
    }

    /// Brings the neighbours' bytes to disk, so that the next step takes no download.
    private func fetchNeighbours() {
        guard let position else { return }
        neighbours?.cancel()
        let requests = [position + 1, position - 1].filter(gallery.grid.urls.indices.contains)
            .compactMap { try? ImageRequest(gallery.grid.urls[$0]) }
        neighbours = ImagePrefetcher(pipeline: gallery.pipeline, destination: .disk).prefetch(requests)
    }
}
#endif
