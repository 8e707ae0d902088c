#if GTK
import EideticBackground

/// The Gallery's part in its life: it returns to the image that was shown, and opens images for other programs.
@MainActor
final class GalleryDelegate: ApplicationDelegate {
    /// The scheme before the URL of an image or an index, as in `eidetic-gallery:https://example.org/a.jpg`.
    private static let scheme = "eidetic-gallery:"

    /// The window, from its creation on.
    var gallery: Gallery? {
        didSet { use() }
    }
    private var archive: [UInt8]?
    private var url: String?
    /// A Boolean value indicating whether the window is shown: not after a launch into the background.
    private var isShown = false

    func application(_ application: Application, didFinishLaunchingWith options: LaunchOptions) {
        // Who starts it without a supervisor names the images.
        if application.isSupervised { archive = options.archive }
        isShown = !options.isInBackground
        use()
    }

    func applicationWillEnterForeground(_ application: Application) {
        isShown = true
        use()
    }

    func applicationArchive(_ application: Application) -> [UInt8]? { gallery?.archive }

    func application(_ application: Application, open url: String, from source: String?) -> Bool {
        guard url.hasPrefix(Self.scheme), url != Self.scheme else { return false }
        self.url = String(url.dropFirst(Self.scheme.count))
        use()
        return true
    }

    /// Passes on what came before the window.
    private func use() {
        guard let gallery else { return }
        if isShown { gallery.present() }
        if let archive { gallery.restore(archive) }
        if let url { gallery.open(url) }
        archive = nil
        url = nil
    }
}
#endif
