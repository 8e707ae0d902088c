#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticStore

/// What the cache takes, and the button that clears it.
@MainActor
final class CacheView {
    private unowned let gallery: Gallery
    private var isUpdating = false
    private var wantsUpdate = false

    init(_ gallery: Gallery) { self.gallery = gallery }

    /// Shows the sizes as they are now; one look at a time.
    func update() {
        wantsUpdate = true
        guard !isUpdating else { return }
        isUpdating = true
        Task {
            while wantsUpdate {
                wantsUpdate = false
                show(try? await gallery.disk?.currentUsage())
            }
            isUpdating = false
        }
    }

    /// Forgets all pictures; those that are seen stay.
    func clear() {
        Task {
            gallery.pipeline.removeAllFromMemory()
            try? await gallery.disk?.removeAllValues()
            if let usage = try? await gallery.disk?.currentUsage() { gallery.say("cleared to \(usage.logical)") }
            update()
        }
    }

    private func show(_ usage: DiskCache.Usage?) {
        let usage = usage ?? DiskCache.Usage()
        let memory = gallery.pipeline.memoryUsage
        gtk_menu_button_set_label(gallery.interface.opaque("cache"), "\(usage.logical)")
        gallery.setText(
            "cache-facts",
            "\(usage.logical) in \(usage.entries) entries on disk\n\(memory) decoded in memory"
        )
    }
}
#endif
