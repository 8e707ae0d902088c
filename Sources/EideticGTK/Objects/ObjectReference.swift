#if GTK
internal import CGTK

/// A GObject that is kept as long as this is.
@MainActor
final class ObjectReference {
    let pointer: OpaquePointer

    /// Takes over a reference that the caller owns.
    init(adopting pointer: OpaquePointer) { self.pointer = pointer }

    // GTK's objects are let go of on the thread that uses them.
    isolated deinit { g_object_unref(UnsafeMutableRawPointer(pointer)) }

    var raw: UnsafeMutableRawPointer { UnsafeMutableRawPointer(pointer) }
}

/// A GObject that is not kept; gives `nil` once it is gone.
@MainActor
final class WeakObject {
    private let cell: UnsafeMutablePointer<GWeakRef>

    init(_ object: UnsafeMutableRawPointer) {
        cell = .allocate(capacity: 1)
        g_weak_ref_init(cell, object)
    }

    isolated deinit {
        g_weak_ref_clear(cell)
        cell.deallocate()
    }

    /// The object, with a reference that the caller owns.
    var strong: ObjectReference? { g_weak_ref_get(cell).map { ObjectReference(adopting: OpaquePointer($0)) } }

    /// Whether the object is gone.
    var isGone: Bool { strong == nil }
}
#endif
