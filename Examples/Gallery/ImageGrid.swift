#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticGTK

/// The grid view: a list of URLs, and cells for those near the visible area.
@MainActor
final class ImageGrid {
    private(set) var urls: [String] = []
    let cells: ImageCells
    private let interface: Interface
    private let model = gtk_string_list_new(nil)
    /// The size of an image in the grid, in pixels of the toolkit.
    private static let tile = PixelSize(width: 248, height: 186)

    init(interface: Interface, pipeline: ImagePipeline) {
        self.interface = interface
        let presentation = ImageSlot.Presentation(
            failureImage: try? Placeholder.missingImage(size: Self.tile),
            indicator: .progress,
            transition: .crossFade(.milliseconds(220))
        )
        cells = ImageCells(in: interface.opaque("scrolled"), pipeline: pipeline, presentation: presentation)
        guard let factory = gtk_signal_list_item_factory_new() else { return }
        let object = UnsafeMutableRawPointer(factory)
        Signal.connect(object, signal: "setup") { item in if let item { Self.setUp(OpaquePointer(item)) } }
        Signal.connect(object, signal: "bind") { [unowned self] item in if let item { bind(OpaquePointer(item)) } }
        Signal.connect(object, signal: "unbind") { [unowned self] item in if let item { unbind(OpaquePointer(item)) } }
        gtk_grid_view_set_factory(interface.opaque("grid"), factory)
        gtk_grid_view_set_model(interface.opaque("grid"), gtk_no_selection_new(model))
    }

    func show(_ urls: [String]) {
        self.urls = urls
        let count = g_list_model_get_n_items(model)
        let names = urls.map { g_strdup($0) }
        let pointers: [UnsafePointer<CChar>?] = names.map { name in name.map { UnsafePointer($0) } } + [nil]
        gtk_string_list_splice(model, 0, count, pointers)
        for name in names { g_free(name) }
    }

    /// Returns the request for an image in the grid; `nil` if there is none at this position.
    func request(at position: Int) -> ImageRequest? {
        guard urls.indices.contains(position) else { return nil }
        let scale = Int(gtk_widget_get_scale_factor(interface.widget("grid")))
        let size = PixelSize(width: Self.tile.width * scale, height: Self.tile.height * scale)
        // The view of one image joins the download of its cell, and shows it as it is received.
        let options: ImageOptions = [.continueInBackground, .progressive]
        return ImageRequest(urls[position], size: size, contentMode: .fill, options: options)
    }

    /// Scrolls by whole rows until an image is visible.
    func scroll(to position: Int) {
        gtk_widget_activate_action_variant(
            interface.widget("grid"),
            "list.scroll-to-item",
            g_variant_new_uint32(UInt32(position))
        )
    }

    // MARK: Cells

    private static func setUp(_ item: OpaquePointer) {
        guard let widget = gtk_picture_new() else { return }
        gtk_widget_set_size_request(widget, Int32(tile.width), Int32(tile.height))
        gtk_picture_set_content_fit(OpaquePointer(widget), GTK_CONTENT_FIT_COVER)
        gtk_widget_set_overflow(widget, GTK_OVERFLOW_HIDDEN)
        gtk_widget_set_valign(widget, GTK_ALIGN_CENTER)
        gtk_widget_add_css_class(widget, "tile")
        gtk_list_item_set_child(item, widget)
    }

    private func bind(_ item: OpaquePointer) {
        let position = Int(gtk_list_item_get_position(item))
        guard let widget = gtk_list_item_get_child(item), let request = request(at: position) else { return }
        let name = urls[position].imageName
        gtk_picture_set_alternative_text(OpaquePointer(widget), name)
        gtk_widget_set_tooltip_text(widget, name)
        // An alternative text is only a description, so the cell, which has the focus, and its image get names as well.
        eidetic_set_accessible_name(widget, name)
        eidetic_set_accessible_name(gtk_widget_get_parent(widget), name)
        cells.bind(widget, to: request, at: position)
    }

    private func unbind(_ item: OpaquePointer) {
        if let widget = gtk_list_item_get_child(item) { cells.unbind(widget) }
    }
}
#endif
