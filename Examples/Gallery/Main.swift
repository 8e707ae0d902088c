// A gallery of pictures from the network: a scrolling grid, and each picture large.
#if GTK
import CGTK
import Eidetic
import EideticGTK
import Glibc

@main
struct Main {
    /// Synchronous: GLib owns the main thread.
    @MainActor
    static func main() {
        guard let options = GalleryOptions(CommandLine.arguments.dropFirst()) else {
            print(GalleryOptions.usage)
            exit(2)
        }
        MainLoop.attach()
        guard let application = gtk_application_new("org.eidetic.Gallery", G_APPLICATION_NON_UNIQUE) else { exit(1) }
        var gallery: Gallery?
        Signal.connect(application, "activate") { _ in
            gallery = gallery ?? Gallery(application, options)
            gallery?.present()
        }
        let status = application.withMemoryRebound(to: GApplication.self, capacity: 1) {
            g_application_run($0, 0, nil)
        }
        exit(status)
    }
}
#else
@main
struct Main {
    static func main() { print("built without GTK; script/gallery builds and starts it") }
}
#endif
