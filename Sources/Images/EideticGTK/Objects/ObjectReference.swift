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
#endif
