import Eidetic
import EideticBackground
import EideticBackgroundGTK

#if GTK
import CGTK
import EideticGTK
import Glibc

/// Shows images in a window of GTK 4, which appears when the application comes to the foreground.
@MainActor
final class WindowScreen: Screen {
    private let window: UnsafeMutablePointer<GtkWindow>
    private let view: UnsafeMutablePointer<GtkWidget>

    init?() {
        guard gtk_init_check() != 0, let widget = gtk_window_new(), let view = gtk_picture_new() else { return nil }
        MainLoop.attach()
        window = UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkWindow.self)
        self.view = view
        gtk_window_set_title(window, "BackgroundFetch")
        gtk_window_set_default_size(window, 640, 480)
        gtk_window_set_child(window, view)
        Application.shared.followWindows()
    }

    func present() { gtk_window_present(window) }

    func show(_ image: Image, of request: ImageRequest) async {
        await withCheckedContinuation { continuation in
            // In the background the window has no layout yet, for which a load without a size waits.
            ImageWidget(view).setImage(request, presentation: .init(usesViewSize: false)) { _ in continuation.resume() }
        }
    }

    func run() { while g_list_model_get_n_items(gtk_window_get_toplevels()) > 0 { g_main_context_iteration(nil, 1) } }
}
#endif

extension BackgroundFetch {
    /// A window where there is a display, else the terminal.
    static func makeScreen() -> any Screen {
        #if GTK
        if let window = WindowScreen() { return window }
        #endif
        return TerminalScreen()
    }
}
