#if GTK
internal import CGTK
internal import Dispatch

/// Makes GLib's main loop run the main actor's jobs.
///
/// A GTK program's main thread belongs to GLib. Once ``attach()`` was called there, `@MainActor` code, `MainActor.run` and
/// the main dispatch queue run on that thread between GTK's own events, with the priority of drawing: neither keeps the
/// other waiting for ever.
///
/// The program's `main` must be synchronous, because an asynchronous one would give the main thread away.
public enum MainLoop {
    /// Attaches the main actor to GLib's default main context; further calls do nothing.
    ///
    /// To be called on the main thread, before or after `gtk_init`.
    @MainActor
    public static func attach() {
        // Also what makes the linker bring libdispatch, whose functions the C target calls.
        dispatchPrecondition(condition: .onQueue(.main))
        guard source == 0 else { return }
        source = eidetic_main_queue_attach()
    }

    @MainActor private static var source: UInt32 = 0
}
#endif
