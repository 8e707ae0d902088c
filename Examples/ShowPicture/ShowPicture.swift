// One picture in a window: `ShowPicture https://example.org/a.jpg`
#if GTK
import CGTK
import EideticGTK

@main
struct ShowPicture {
    /// Synchronous, because GLib owns the main thread: an asynchronous `main` would give it away.
    @MainActor
    static func main() {
        gtk_init()
        MainLoop.attach()
        guard CommandLine.arguments.count == 2, let widget = gtk_window_new(), let picture = gtk_picture_new() else {
            return print("usage: ShowPicture URL")
        }
        let window = UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkWindow.self)
        gtk_window_set_default_size(window, 800, 600)
        gtk_window_set_child(window, picture)
        gtk_window_present(window)
        Task { await show(CommandLine.arguments[1], picture, window) }
        while g_list_model_get_n_items(gtk_window_get_toplevels()) > 0 { g_main_context_iteration(nil, 1) }
    }

    /// Runs on GLib's thread, between GTK's own events, and suspends without holding it.
    @MainActor
    static func show(
        _ url: String,
        _ picture: UnsafeMutablePointer<GtkWidget>,
        _ window: UnsafeMutablePointer<GtkWindow>
    ) async {
        do throws(EideticError) {
            let response = try await ImageWidget(picture)
                .show(url, presentation: .init(indicator: .progress, transition: .crossFade()))
            gtk_window_set_title(window, "\(response.image.sourceSize) from \(response.source)")
        } catch {
            gtk_window_set_title(window, "\(error.code): \(error.message)")
        }
    }
}
#else
@main
struct ShowPicture {
    static func main() { print("built without the trait GTK") }
}
#endif
