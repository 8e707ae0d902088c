#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticStore

/// What the cache takes, and the button that clears it.
@MainActor
final class CacheView {
    private unowned let gallery: Gallery
    private var shown: [ByteCount] = []
    /// How many more looks are taken: pictures are stored after they are shown.
    private var looks = 0

    init(_ gallery: Gallery) { self.gallery = gallery }

    /// Shows the sizes as they are now, and as they become until they stay as they are.
    func update() {
        let isIdle = looks == 0
        looks = 8
        guard isIdle else { return }
        Task {
            while looks > 0 {
                looks = await look() ? 8 : looks - 1
                try? await Task.sleep(for: .milliseconds(250))
            }
        }
    }

    /// Forgets all pictures; those that are seen stay.
    func clear() {
        Task {
            gallery.pipeline.removeAllFromMemory()
            try? await gallery.disk?.removeAllValues()
            if let usage = try? await gallery.disk?.currentUsage() { gallery.say("cleared to \(usage.logicalSize)") }
            update()
        }
    }

    /// Shows the sizes; gives whether they have changed.
    private func look() async -> Bool {
        let usage = (try? await gallery.disk?.currentUsage()) ?? DiskCache.Usage()
        let memory = gallery.pipeline.memoryUsage
        guard shown != [usage.logicalSize, memory] else { return false }
        shown = [usage.logicalSize, memory]
        gtk_menu_button_set_label(gallery.interface.opaque("cache"), "\(usage.logicalSize)")
        gallery.setText(
            "cache-facts",
            "\(usage.logicalSize) in \(usage.entryCount) entries on disk\n\(memory) decoded in memory"
        )
        return true
    }
}
#endif
