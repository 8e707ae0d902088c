#if GTK
internal import CGTK
public import EideticBackground
internal import EideticGTK

@MainActor private var windowPresenter: WindowPresenter?

/// A presenter that derives the presentation of an application from its windows.
///
/// An application with a focused window is active; with windows that are only visible, inactive; and without a visible
/// window, for example because all are minimised, in the background. On Wayland a window that the compositor reports as
/// suspended (GTK 4.12) is not visible.
@MainActor
final class WindowPresenter {
    private let application: Application
    /// The windows whose signals are connected, with their surfaces; both live longer than their handlers.
    private var surfaces: [UnsafeMutableRawPointer: UnsafeMutableRawPointer?] = [:]
    /// A Boolean value indicating whether a window was mapped once; before, the start of the application counts.
    private var hasPresented = false
    private var isUpdateScheduled = false

    init(application: Application) {
        self.application = application
        guard let windows = gtk_window_get_toplevels() else { return }
        Signal.connectInteger(UnsafeMutableRawPointer(windows), signal: "items-changed") { [weak self] _ in
            self?.connectNewWindows()
        }
        connectNewWindows()
    }

    private static var windows: [UnsafeMutableRawPointer] {
        let list = gtk_window_get_toplevels()
        return (0..<g_list_model_get_n_items(list)).compactMap { position in
            // The list retains the window.
            g_list_model_get_item(list, position).map { item in
                g_object_unref(item)
                return item
            }
        }
    }

    private func connectNewWindows() {
        let windows = Self.windows
        surfaces = surfaces.filter { windows.contains($0.key) }
        WindowSnapshots.shared.follow(windows)
        for window in windows where surfaces[window] == nil {
            surfaces[window] = .some(nil)
            for signal in ["notify::is-active", "map", "unmap"] {
                Signal.connect(window, signal: signal) { [weak self] _ in self?.scheduleUpdate() }
            }
        }
        scheduleUpdate()
    }

    /// Schedules an update for the next turn of the main loop, because the focus leaves a window before it enters
    /// another one.
    private func scheduleUpdate() {
        guard !isUpdateScheduled else { return }
        isUpdateScheduled = true
        Task { [weak self] in self?.update() }
    }

    private func update() {
        isUpdateScheduled = false
        let windows = Self.windows
        for window in windows { connectSurface(of: window) }
        WindowSnapshots.shared.follow(windows)
        let isVisible = windows.contains { eidetic_window_is_visible($0) != 0 }
        let isFocused = windows.contains { eidetic_get_boolean($0, "is-active") != 0 }
        // One that was minimised before this has seen it counts as well.
        hasPresented =
            hasPresented || windows.contains { gtk_widget_get_mapped($0.assumingMemoryBound(to: GtkWidget.self)) != 0 }
        guard hasPresented else { return }
        report(isVisible: isVisible, isFocused: isFocused)
    }

    private func report(isVisible: Bool, isFocused: Bool) {
        application.setPresentation(isFocused && isVisible ? .active : isVisible ? .inactive : .background)
    }

    /// Connects the surface of a window, which exists while the window is realised.
    private func connectSurface(of window: UnsafeMutableRawPointer) {
        let surface = eidetic_window_surface(window)
        guard surfaces[window] != surface else { return }
        surfaces[window] = surface
        guard let surface else { return }
        Signal.connect(surface, signal: "notify::state") { [weak self] _ in self?.scheduleUpdate() }
    }
}

extension Application {
    /// Derives the state of the application from the windows of this process from now on: active with a focused window,
    /// inactive with windows that are only visible, and in the background without a visible one.
    ///
    /// Call it once on the main thread, after `gtk_init` or in the handler of `activate`. Until the first window
    /// appears, the state stays that of the launch.
    @MainActor
    public func followWindows() {
        guard windowPresenter == nil else { return }
        windowPresenter = WindowPresenter(application: self)
        setSnapshotDrawing { WindowSnapshots.shared.draw() }
    }
}
#endif
