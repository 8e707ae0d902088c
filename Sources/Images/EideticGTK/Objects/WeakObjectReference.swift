#if GTK
internal import CGTK

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
#endif
