// A list with an image in each row: `ImageList https://example.org/a.jpg https://example.org/b.jpg`
#if GTK
import CGTK
import EideticGTK

@main
@MainActor
struct ImageList {
    let urls: [String]
    let scrolledWindow: UnsafeMutablePointer<GtkWidget>
    let cells: ImageCells

    /// Runs the program; synchronous, because an asynchronous `main` would block GLib's main loop.
    static func main() {
        gtk_init()
        MainLoop.attach()
        let urls = Array(CommandLine.arguments.dropFirst())
        guard !urls.isEmpty, let widget = gtk_window_new(), let list = ImageList(urls: urls) else {
            return print("usage: ImageList URL…")
        }
        let window = UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkWindow.self)
        gtk_window_set_default_size(window, 400, 600)
        gtk_window_set_child(window, list.scrolledWindow)
        var shown: Set<ImageRequest> = []
        list.cells.onChange = { request, change in
            if case .shown = change { shown.insert(request) }
            gtk_window_set_title(window, "\(shown.count) of \(urls.count) images")
        }
        gtk_window_present(window)
        while g_list_model_get_n_items(gtk_window_get_toplevels()) > 0 { g_main_context_iteration(nil, 1) }
    }

    init?(urls: [String]) {
        guard let widget = gtk_scrolled_window_new(), let factory = gtk_signal_list_item_factory_new() else {
            return nil
        }
        (self.urls, scrolledWindow) = (urls, widget)
        cells = ImageCells(in: OpaquePointer(widget), presentation: .init(indicator: .spinner))
        connect(UnsafeMutableRawPointer(factory))
        let model = gtk_string_list_new(nil)
        for url in urls { gtk_string_list_append(model, url) }
        gtk_scrolled_window_set_child(OpaquePointer(widget), gtk_list_view_new(gtk_no_selection_new(model), factory))
    }

    /// Connects the signals with which GTK creates the rows and reuses them.
    private func connect(_ factory: UnsafeMutableRawPointer) {
        Signal.connect(factory, signal: "setup") { item in
            guard let item, let widget = gtk_picture_new() else { return }
            gtk_widget_set_size_request(widget, -1, 120)
            gtk_list_item_set_child(OpaquePointer(item), widget)
        }
        Signal.connect(factory, signal: "bind") { [self] item in
            guard let item, let widget = gtk_list_item_get_child(OpaquePointer(item)) else { return }
            let position = Int(gtk_list_item_get_position(OpaquePointer(item)))
            cells.bind(widget, to: request(at: position), at: position)
        }
        Signal.connect(factory, signal: "unbind") { [cells] item in
            guard let item, let widget = gtk_list_item_get_child(OpaquePointer(item)) else { return }
            cells.unbind(widget)
        }
    }

    /// Returns the request for the image of a row, in the pixels of the screen.
    private func request(at position: Int) -> ImageRequest {
        let scale = Int(gtk_widget_get_scale_factor(scrolledWindow))
        return ImageRequest(urls[position], size: PixelSize(width: 400 * scale, height: 120 * scale))
    }
}
#else
@main
struct ImageList {
    static func main() { print("built without the trait GTK") }
}
#endif
