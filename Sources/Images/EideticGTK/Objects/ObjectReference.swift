#if GTK
internal import CGTK

/// A strong reference to a GObject.
@MainActor
package final class ObjectReference {
    package let pointer: OpaquePointer

    /// Takes ownership of a reference that the caller owns.
    package init(adopting pointer: OpaquePointer) { self.pointer = pointer }

    // GTK's objects are released on the thread that uses them.
    isolated deinit { g_object_unref(UnsafeMutableRawPointer(pointer)) }

    var rawPointer: UnsafeMutableRawPointer { UnsafeMutableRawPointer(pointer) }
}

/// A weak reference to a GObject.
@MainActor
package final class WeakObjectReference {
    private let reference: UnsafeMutablePointer<GWeakRef>

    package init(_ object: UnsafeMutableRawPointer) {
        reference = .allocate(capacity: 1)
        g_weak_ref_init(reference, object)
    }

    isolated deinit {
        g_weak_ref_clear(reference)
        reference.deallocate()
    }

    /// A strong reference to the object; `nil` after its release.
    package var strongReference: ObjectReference? {
        g_weak_ref_get(reference).map { ObjectReference(adopting: OpaquePointer($0)) }
    }

    package var isReleased: Bool { strongReference == nil }
}

extension MainActor {
    /// Runs `body` on the main actor, within a callback that GLib makes on the thread of its main loop.
    ///
    /// - Precondition: The calling thread is the main actor's; on any other thread the program traps.
    @discardableResult
    static func runCallback<Context, Result: Sendable>(
        with context: Context,
        body: @MainActor (Context) -> Result
    ) -> Result {
        // Safe to send: caller and `body` are on the same thread, which is checked.
        nonisolated(unsafe) let context = context
        return assumeIsolated { body(context) }
    }
}
#endif
