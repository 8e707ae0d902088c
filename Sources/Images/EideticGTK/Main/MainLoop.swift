#if GTK
internal import CGTK
internal import Dispatch

/// The connection between GLib's main loop and the main actor.
///
/// The main thread of a GTK program runs GLib's main loop. After ``attach()``, `@MainActor` code, `MainActor.run` and
/// the main dispatch queue run on that thread between GTK's own events. They have the priority of drawing, so neither
/// can starve the other.
///
/// The program's `main` must be synchronous, because an asynchronous one would block GLib's main loop.
public enum MainLoop {
    /// Attaches the main actor to GLib's default main context; further calls have no effect.
    ///
    /// Call it on the main thread, before or after `gtk_init`.
    @MainActor
    public static func attach() {
        // The call also makes the linker include libdispatch, whose functions the C target calls.
        dispatchPrecondition(condition: .onQueue(.main))
        guard source == 0 else { return }
        source = eidetic_main_queue_attach()
    }

    @MainActor private static var source: UInt32 = 0
}

/// Tells benchmarks when Eidetic works on the main thread: one turn of the main actor's jobs, all that were ready
/// together, or one call by the toolkit or the program.
@MainActor
enum MainThreadWatch {
    static func measure<Result>(_ body: () throws -> Result) rethrows -> Result {
        eidetic_watch(1)
        defer { eidetic_watch(0) }
        return try body()
    }
}
#endif
