#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticGTK

/// The grid: a list of URLs, and a cell for each that is near the screen.
@MainActor
final class PictureGrid {
    private(set) var urls: [String] = []
    let cells: ImageCells
    private let interface: Interface
    private let model = gtk_string_list_new(nil)
    /// The size of a picture in the grid, in the toolkit's pixels.
    private static let tile = PixelSize(width: 248, height: 186)

    init(_ interface: Interface, _ pipeline: ImagePipeline) {
        self.interface = interface
        let presentation = ImageSlot.Presentation(
            failureImage: try? Placeholder.missing(Self.tile),
            indicator: .progress,
            transition: .crossFade(.milliseconds(220))
        )
        cells = ImageCells(interface.opaque("scrolled"), pipeline: pipeline, presentation: presentation)
        guard let factory = gtk_signal_list_item_factory_new() else { return }
        let object = UnsafeMutableRawPointer(factory)
        Signal.connect(object, "setup") { item in if let item { Self.setUp(OpaquePointer(item)) } }
        Signal.connect(object, "bind") { [unowned self] item in if let item { bind(OpaquePointer(item)) } }
        Signal.connect(object, "unbind") { [unowned self] item in if let item { unbind(OpaquePointer(item)) } }
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

    /// What is asked for a picture in the grid; `nil` where the URL is none.
    func request(_ position: Int) -> ImageRequest? {
        guard urls.indices.contains(position) else { return nil }
        let scale = Int(gtk_widget_get_scale_factor(interface.widget("grid")))
        let size = PixelSize(width: Self.tile.width * scale, height: Self.tile.height * scale)
        return try? ImageRequest(urls[position], size: size, contentMode: .fill, options: .preloadAllFrames)
    }

    /// Brings a picture into view, by whole rows.
    func scroll(to position: Int) {
        gtk_widget_activate_action_variant(
            interface.widget("grid"),
            "list.scroll-to-item",
            g_variant_new_uint32(UInt32(position))
        )
    }

    // MARK: Cells

    private static func setUp(_ item: OpaquePointer) {
        guard let picture = gtk_picture_new() else { return }
        gtk_widget_set_size_request(picture, Int32(tile.width), Int32(tile.height))
        gtk_picture_set_content_fit(OpaquePointer(picture), GTK_CONTENT_FIT_COVER)
        gtk_widget_set_overflow(picture, GTK_OVERFLOW_HIDDEN)
        gtk_widget_set_valign(picture, GTK_ALIGN_CENTER)
        gtk_widget_add_css_class(picture, "tile")
        gtk_list_item_set_child(item, picture)
    }

    private func bind(_ item: OpaquePointer) {
        let position = Int(gtk_list_item_get_position(item))
        guard let picture = gtk_list_item_get_child(item), let request = request(position) else { return }
        let name = urls[position].pictureName
        gtk_picture_set_alternative_text(OpaquePointer(picture), name)
        gtk_widget_set_tooltip_text(picture, name)
        // An alternative text is a description; the name is that of the cell, which has the focus, and of its picture.
        eidetic_set_accessible_name(picture, name)
        eidetic_set_accessible_name(gtk_widget_get_parent(picture), name)
        cells.bind(picture, request, at: position)
    }

    private func unbind(_ item: OpaquePointer) {
        if let picture = gtk_list_item_get_child(item) { cells.unbind(picture) }
    }
}
#endif
