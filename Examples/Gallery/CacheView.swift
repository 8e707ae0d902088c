#if GTK
import CGTK
import Eidetic
import EideticCore
import EideticStore

/// The size of the cache, and the button that clears it.
@MainActor
final class CacheView {
    private unowned let gallery: Gallery
    private var shownSizes: [ByteCount] = []
    /// The number of further checks; images are stored after they are shown.
    private var remainingChecks = 0

    init(gallery: Gallery) { self.gallery = gallery }

    /// Shows the current sizes, and updates them until they stop changing.
    func update() {
        let isIdle = remainingChecks == 0
        remainingChecks = 8
        guard isIdle else { return }
        Task {
            while remainingChecks > 0 {
                remainingChecks = await updateSizes() ? 8 : remainingChecks - 1
                try? await Task.sleep(for: .milliseconds(250))
            }
        }
    }

    /// Removes all images from the cache; visible ones stay.
    func clear() {
        Task {
            try? await gallery.pipeline.cache.removeAll()
            if let usage = try? await gallery.disk?.usage { gallery.report("cleared to \(usage.logicalSize)") }
            update()
        }
    }

    /// Shows the current sizes.
    ///
    /// - Returns: `true` if they have changed; otherwise, `false`.
    private func updateSizes() async -> Bool {
        let usage = try? await gallery.disk?.usage
        let disk = usage?.logicalSize ?? ByteCount(0)
        let memory = gallery.pipeline.cache.memory.images.totalCost
        guard shownSizes != [disk, memory] else { return false }
        shownSizes = [disk, memory]
        gtk_menu_button_set_label(gallery.interface.opaque("cache"), "\(disk)")
        // Where the button has a name, GTK 4.18 does not read its label.
        eidetic_set_accessible_name(gallery.interface.widget("cache"), "Size of the cache: \(disk)")
        gallery.setText(
            of: "cache-facts",
            to: "\(disk) in \(usage?.entryCount ?? 0) entries on disk\n\(memory) decoded in memory"
        )
        return true
    }
}
#endif
