#if GTK
internal import CGTK
public import Eidetic

/// An observer of a scrolled window that delays loads of low priority while the user scrolls or drags.
///
/// Each ``ImageWidget`` has the scrolled windows around it observed for its pipeline, so that only programs with views
/// of their own call ``observe(_:pipeline:)``.
@MainActor
public final class ScrollObserver {
    /// A pipeline whose loads are delayed.
    private struct Target {
        weak var pipeline: ImagePipeline?
        let isShared: Bool

        /// The pipeline; for the shared one that of this moment.
        var current: ImagePipeline? { isShared ? .shared : pipeline }
    }

    /// A widget whose motion has stopped because it was scrolled out of sight.
    private struct HiddenWidget { weak var state: WidgetState? }

    private var targets: [Target] = []
    private var hiddenWidgets: [HiddenWidget] = []
    private let drag: DragTracker
    /// The pipelines whose loads are delayed now; none unless the user scrolls or drags.
    private var delayedPipelines: [ImagePipeline] = []
    private var timer: UInt32 = 0
    /// The number of scrolled windows that move now, for each pipeline.
    private static var scrollingCounts: [ObjectIdentifier: Int] = [:]

    /// The time without movement after which scrolling has ended, in milliseconds as GLib takes it.
    package static var settleTime: UInt32 = 150

    /// Observes a scrolled window as long as it exists; does nothing if that pipeline observes it already.
    ///
    /// Delayed loads resume 150 milliseconds after the last movement, or after the end of the drag: of a finger or a
    /// mouse button that was moved by more than 8 pixels and is still held.
    ///
    /// - Parameters:
    ///   - scrolledWindow: A `GtkScrolledWindow`.
    ///   - pipeline: The pipeline whose loads are delayed; `nil`, the default, for the shared one.
    public static func observe(_ scrolledWindow: OpaquePointer, pipeline: ImagePipeline? = nil) {
        attached(to: scrolledWindow).add(pipeline)
    }

    /// Observes all scrolled windows that contain a widget.
    static func observeWindows(around widget: UnsafeMutablePointer<GtkWidget>, pipeline: ImagePipeline?) {
        for window in windows(around: widget) { observe(OpaquePointer(window), pipeline: pipeline) }
    }

    private static func windows(around widget: UnsafeMutablePointer<GtkWidget>) -> [UnsafeMutablePointer<GtkWidget>] {
        let first = gtk_widget_get_ancestor(widget, gtk_scrolled_window_get_type())
        let all = sequence(first: first) { window in
            window.flatMap(gtk_widget_get_parent).map { gtk_widget_get_ancestor($0, gtk_scrolled_window_get_type()) }
        }
        return all.prefix { $0 != nil }.compactMap(\.self)
    }

    /// Returns `true` if a scrolled window shows no part of a widget.
    static func isScrolledOut(_ widget: UnsafeMutablePointer<GtkWidget>) -> Bool {
        windows(around: widget).contains { window in
            var area = graphene_rect_t()
            let isLaidOut = gtk_widget_compute_bounds(widget, window, &area) != 0
            guard isLaidOut, area.size.width > 0, area.size.height > 0 else { return false }
            let (width, height) = (Float(gtk_widget_get_width(window)), Float(gtk_widget_get_height(window)))
            return area.origin.x >= width || area.origin.x + area.size.width <= 0
                || area.origin.y >= height || area.origin.y + area.size.height <= 0
        }
    }

    /// Tells a widget when one of the scrolled windows around it moves, as long as it is scrolled out of sight.
    static func observeWindows(around widget: UnsafeMutablePointer<GtkWidget>, for state: WidgetState) {
        for window in windows(around: widget) {
            let observer = attached(to: OpaquePointer(window))
            observer.hiddenWidgets.removeAll { $0.state == nil || $0.state === state }
            observer.hiddenWidgets.append(HiddenWidget(state: state))
        }
    }

    private static let name = "eidetic-scroll-observer"

    /// Returns the observer of a scrolled window, which owns it.
    private static func attached(to scrolledWindow: OpaquePointer) -> ScrollObserver {
        let object = UnsafeMutablePointer<GObject>(scrolledWindow)
        if let existing = g_object_get_data(object, name) {
            return Unmanaged<ScrollObserver>.fromOpaque(existing).takeUnretainedValue()
        }
        let observer = ScrollObserver(of: scrolledWindow)
        g_object_set_data_full(object, name, Unmanaged.passRetained(observer).toOpaque()) { observer in
            if let observer { Unmanaged<ScrollObserver>.fromOpaque(observer).release() }
        }
        return observer
    }

    private init(of scrolledWindow: OpaquePointer) {
        drag = DragTracker(of: scrolledWindow)
        drag.onMovement = { [unowned self] in userMoved() }
        let adjustments = [
            gtk_scrolled_window_get_vadjustment(scrolledWindow), gtk_scrolled_window_get_hadjustment(scrolledWindow),
        ]
        for case let adjustment? in adjustments {
            Signal.connect(UnsafeMutableRawPointer(adjustment), signal: "value-changed") { [weak self] _ in
                self?.userMoved()
                self?.showHiddenWidgets()
            }
            // The window, or what it contains, has another size.
            Signal.connect(UnsafeMutableRawPointer(adjustment), signal: "changed") { [weak self] _ in
                self?.showHiddenWidgets()
            }
        }
    }

    private func add(_ pipeline: ImagePipeline?) {
        targets.removeAll { !$0.isShared && $0.pipeline == nil }
        guard !targets.contains(where: { $0.isShared == (pipeline == nil) && $0.pipeline === pipeline }) else { return }
        targets.append(Target(pipeline: pipeline, isShared: pipeline == nil))
    }
}

// MARK: Movement
extension ScrollObserver {
    private func showHiddenWidgets() {
        hiddenWidgets.removeAll { $0.state?.isScrolledOut != true }
        for widget in hiddenWidgets { widget.state?.windowMoved() }
    }

    private func userMoved() {
        if timer != 0 { g_source_remove(timer) }
        delayLoads(of: targets.compactMap(\.current))
        startTimer()
    }

    /// Delays the loads of these pipelines in place of those before; the shared one may have been replaced.
    private func delayLoads(of pipelines: [ImagePipeline]) {
        guard !pipelines.elementsEqual(delayedPipelines, by: ===) else { return }
        for pipeline in pipelines { Self.changeCount(by: 1, for: pipeline) }
        for pipeline in delayedPipelines { Self.changeCount(by: -1, for: pipeline) }
        delayedPipelines = pipelines
    }

    private static func changeCount(by change: Int, for pipeline: ImagePipeline) {
        let count = scrollingCounts[ObjectIdentifier(pipeline), default: 0] + change
        scrollingCounts[ObjectIdentifier(pipeline)] = count > 0 ? count : nil
        pipeline.isUserInteracting = count > 0
    }

    private func startTimer() {
        timer = g_timeout_add_full(
            G_PRIORITY_DEFAULT,
            Self.settleTime,
            { observer in
                MainActor.runCallback(with: observer) { observer in
                    guard let observer else { return }
                    Unmanaged<ScrollObserver>.fromOpaque(observer).takeUnretainedValue().movementSettled()
                }
                return 0
            },
            Unmanaged.passRetained(self).toOpaque(),
            { observer in if let observer { Unmanaged<ScrollObserver>.fromOpaque(observer).release() } }
        )
    }

    private func movementSettled() {
        if drag.isHeld { return startTimer() }
        timer = 0
        delayLoads(of: [])
    }
}
#endif
