// A gallery of images from the network: a scrolling grid, and a view of each large image.
#if GTK
import CGTK
import Eidetic
import EideticBackground
import EideticBackgroundGTK
import EideticGTK
import Glibc

@main
struct Main {
    /// Runs the program; synchronous, because GLib owns the main thread.
    @MainActor
    static func main() {
        guard let options = GalleryOptions(arguments: CommandLine.arguments.dropFirst()) else {
            print(GalleryOptions.usage)
            exit(2)
        }
        MainLoop.attach()
        guard let application = gtk_application_new("org.eidetic.Gallery", G_APPLICATION_NON_UNIQUE) else { exit(1) }
        let delegate = GalleryDelegate()
        startBackgroundExecution(for: options.backgroundTime, delegate: delegate)
        Signal.connect(application, signal: "activate") { _ in
            delegate.gallery = delegate.gallery ?? Gallery(application: application, options: options)
            Application.shared.followWindows()
        }
        let status = application.withMemoryRebound(to: GApplication.self, capacity: 1) {
            g_application_run($0, 0, nil)
        }
        guard status == 0 else { exit(status) }
        // What is being stored is written before the process ends.
        MainLoop.finish()
    }

    /// Starts the application, so that images in memory, drawing and storing follow the state of the window.
    @MainActor
    private static func startBackgroundExecution(for backgroundTime: Duration, delegate: GalleryDelegate) {
        do throws(EideticError) {
            var configuration = Application.Configuration()
            // The window decides, also in a program that a shell has started with "&".
            configuration.followsTerminal = false
            configuration.backgroundBudget = backgroundTime
            // The name of its desktop entry.
            configuration.identifier = "org.eidetic.Gallery"
            configuration.connectsToSupervisor = true
            try Application.shared.start(configuration, delegate: delegate)
        } catch {
            print("Gallery: \(error.message)")
            exit(1)
        }
    }
}
#else
@main
struct Main {
    static func main() { print("built without GTK; script/demo --gallery builds and starts it") }
}
#endif
