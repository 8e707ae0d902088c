#if GTK
internal import CGTK

/// The finger or mouse button that the user holds down in a widget, and drags.
///
/// Its controller sees the events before all others, and handles none, so that gestures of other widgets work as
/// without it.
@MainActor
final class DragTracker {
    /// The function that is called for each movement of a drag.
    var onMovement: @MainActor () -> Void = {}

    private var start: (x: Double, y: Double)?
    private var isDragging = false
    private var movementTime = 0

    /// The distance from which a movement is a drag, in pixels; GTK's own default.
    private static let threshold = 8.0

    /// The longest time without a movement, in microseconds.
    ///
    /// The end of a drag of data is not delivered, so a drag without an end ends by itself.
    private static let longestHold = 10_000_000

    init(of widget: OpaquePointer) {
        guard let controller = gtk_event_controller_legacy_new() else { return }
        gtk_event_controller_set_propagation_phase(controller, GTK_PHASE_CAPTURE)
        Signal.connectEvent(UnsafeMutableRawPointer(controller)) { [weak self] in self?.handle($0) }
        gtk_widget_add_controller(UnsafeMutablePointer(widget), controller)
    }

    /// A Boolean value indicating whether a drag goes on, even without a movement.
    var isHeld: Bool { isDragging && g_get_monotonic_time() - movementTime < Self.longestHold }

    private func handle(_ event: OpaquePointer) {
        switch gdk_event_get_event_type(event) {
        case GDK_BUTTON_PRESS, GDK_TOUCH_BEGIN: start = position(of: event)
        case GDK_MOTION_NOTIFY, GDK_TOUCH_UPDATE: move(event)
        case GDK_BUTTON_RELEASE, GDK_TOUCH_END, GDK_TOUCH_CANCEL, GDK_GRAB_BROKEN: end()
        default: break
        }
    }

    private func move(_ event: OpaquePointer) {
        guard let start else { return }
        guard gdk_event_get_event_type(event) == GDK_TOUCH_UPDATE || isButtonPressed(in: event) else { return end() }
        let position = position(of: event)
        let (x, y) = (position.x - start.x, position.y - start.y)
        isDragging = isDragging || x * x + y * y > Self.threshold * Self.threshold
        movementTime = g_get_monotonic_time()
        if isDragging { onMovement() }
    }

    private func isButtonPressed(in event: OpaquePointer) -> Bool {
        let buttons = GDK_BUTTON1_MASK.rawValue | GDK_BUTTON2_MASK.rawValue | GDK_BUTTON3_MASK.rawValue
        return gdk_event_get_modifier_state(event).rawValue & buttons != 0
    }

    private func end() { (start, isDragging) = (nil, false) }

    private func position(of event: OpaquePointer) -> (x: Double, y: Double) {
        var position = (x: 0.0, y: 0.0)
        gdk_event_get_position(event, &position.x, &position.y)
        return position
    }
}
#endif
