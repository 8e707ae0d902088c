#if GTK
internal import CGTK
internal import Eidetic
import EideticViews
public import EideticBackground
internal import EideticGTK

/// The images of the windows of this process, which a switcher shows while the application is in the background.
@MainActor
final class WindowSnapshots {
    /// The longer side of a snapshot, in pixels.
    private static let sizeLimit = 512.0

    /// A window, and its contents when it was on the screen for the last time.
    private final class Window {
        let paintable: ObjectReference
        var lastImage: ObjectReference?

        init(_ paintable: ObjectReference) { self.paintable = paintable }
    }

    private var windows: [UnsafeMutableRawPointer: Window] = [:]
    private var sensitiveWidgets: [WeakObjectReference] = []
    /// The window that was active last.
    private var activeWindow: UnsafeMutableRawPointer?

    static let shared = WindowSnapshots()

    /// Follows windows, and forgets others.
    func follow(_ found: [UnsafeMutableRawPointer]) {
        windows = windows.filter { found.contains($0.key) }
        for window in found where windows[window] == nil {
            guard let paintable = eidetic_window_paintable_new(window) else { continue }
            let followed = Window(ObjectReference(adopting: OpaquePointer(paintable)))
            windows[window] = followed
            Signal.connect(paintable, signal: "invalidate-contents") { [weak followed] _ in
                guard let followed, let image = eidetic_window_current_image(paintable) else { return }
                followed.lastImage = ObjectReference(adopting: OpaquePointer(image))
            }
        }
        activeWindow = found.first { eidetic_get_boolean($0, "is-active") != 0 } ?? activeWindow
    }

    func hide(_ widget: UnsafeMutableRawPointer) {
        sensitiveWidgets = sensitiveWidgets.filter { !$0.isReleased } + [WeakObjectReference(widget)]
    }

    /// Draws the window that was active last; returns the bytes of a PNG file, or `nil` if no window was ever drawn.
    func draw() -> [UInt8]? {
        let first = activeWindow.flatMap { windows[$0] == nil ? nil : $0 } ?? windows.keys.first
        guard let first, let window = windows[first] else { return nil }
        // An image that was loaded in the background is held back until the window is seen again.
        DisplayGate.shared.drawForSnapshot()
        let widgets = sensitiveWidgets.compactMap(\.strongReference)
        var pointers: [UnsafeMutableRawPointer?] = widgets.map { UnsafeMutableRawPointer($0.pointer) }
        let image = window.lastImage.map { UnsafeMutableRawPointer($0.pointer) }
        let bytes = eidetic_window_draw(first, image, &pointers, pointers.count, Self.sizeLimit)
        guard let bytes else { return nil }
        defer { g_bytes_unref(bytes) }
        var size: gsize = 0
        guard let start = g_bytes_get_data(bytes, &size) else { return nil }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(size)))
    }
}

extension Application {
    /// Hides a widget in the snapshots that are kept of the windows while the application is in the background: its
    /// place is covered.
    ///
    /// To be called once for each widget that shows something private. Snapshots are kept under a supervisor only, in
    /// its runtime directory, of an application that calls ``followWindows()``; `eidetic app list --snapshots` shows
    /// their files. What `applicationDidEnterBackground` changes is drawn.
    ///
    /// - Precondition: The object is a `GtkWidget`.
    @MainActor
    public func hideInSnapshots(_ widget: UnsafeMutableRawPointer) { WindowSnapshots.shared.hide(widget) }

    /// Hides a widget of a type that Swift imports as opaque in snapshots, for example `GtkLabel`.
    @MainActor
    public func hideInSnapshots(_ widget: OpaquePointer) { hideInSnapshots(UnsafeMutableRawPointer(widget)) }

    /// Hides a widget of a type that Swift imports as a structure in snapshots, for example `GtkEntry`.
    @MainActor
    public func hideInSnapshots<Widget>(_ widget: UnsafeMutablePointer<Widget>) {
        hideInSnapshots(UnsafeMutableRawPointer(widget))
    }
}
#endif
