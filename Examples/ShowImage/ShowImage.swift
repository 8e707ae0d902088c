// One image in a window: `ShowImage https://example.org/a.jpg`
#if GTK
import CGTK
import EideticGTK

@main
struct ShowImage {
    /// Runs the program; synchronous, because an asynchronous `main` would block GLib's main loop.
    @MainActor
    static func main() {
        gtk_init()
        MainLoop.attach()
        guard CommandLine.arguments.count == 2, let widget = gtk_window_new(), let view = gtk_picture_new() else {
            return print("usage: ShowImage URL")
        }
        let window = UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkWindow.self)
        gtk_window_set_default_size(window, 800, 600)
        gtk_window_set_child(window, view)
        gtk_window_present(window)
        Task { await show(CommandLine.arguments[1], in: view, window: window) }
        while g_list_model_get_n_items(gtk_window_get_toplevels()) > 0 { g_main_context_iteration(nil, 1) }
    }

    /// Shows the image; it runs on GLib's thread between GTK's own events, and suspends without blocking it.
    @MainActor
    static func show(
        _ url: String,
        in view: UnsafeMutablePointer<GtkWidget>,
        window: UnsafeMutablePointer<GtkWindow>
    ) async {
        do throws(EideticError) {
            let response = try await ImageWidget(view)
                .show(ImageRequest(url), presentation: .init(indicator: .progress, transition: .crossFade()))
            gtk_window_set_title(window, "\(response.image.sourceSize) from \(response.source)")
        } catch {
            gtk_window_set_title(window, "\(error.code): \(error.message)")
        }
    }
}
#else
@main
struct ShowImage {
    static func main() { print("built without the trait GTK") }
}
#endif
