#if GTK
internal import CGTK
import Eidetic
import EideticCore

/// What belongs to one widget: a slot for each of its parts, and what makes their pictures move.
///
/// The widget keeps it, and it does not keep the widget: when the widget is destroyed, the loads are cancelled.
@MainActor
final class WidgetState {
    /// The widget; `nil` once it was destroyed.
    private(set) var widget: UnsafeMutablePointer<GtkWidget>?
    let kind: EideticWidgetKind
    private var slots: [ImageWidget.Part: WidgetSlot] = [:]
    private var tick: UInt32 = 0
    private var lastFrame: Int?

    /// The state of a widget, made when it is first asked for; `nil` where the object is no widget that shows pictures.
    static func of(_ object: UnsafeMutableRawPointer) -> WidgetState? {
        if let known = g_object_get_data(object.assumingMemoryBound(to: GObject.self), name) {
            return Unmanaged<WidgetState>.fromOpaque(known).takeUnretainedValue()
        }
        let kind = eidetic_widget_kind(object)
        return kind == EIDETIC_WIDGET_UNKNOWN ? nil : WidgetState(object, kind)
    }

    private static let name = "eidetic-images"

    private init(_ object: UnsafeMutableRawPointer, _ kind: EideticWidgetKind) {
        widget = eidetic_widget(object)
        self.kind = kind
        let kept = Unmanaged.passRetained(self).toOpaque()
        g_object_set_data_full(object.assumingMemoryBound(to: GObject.self), Self.name, kept) { state in
            if let state { Unmanaged<WidgetState>.fromOpaque(state).release() }
        }
        // Called when the widget is destroyed, whoever still holds a reference to it.
        g_object_weak_ref(
            object.assumingMemoryBound(to: GObject.self),
            { state, _ in
                onMainThread(state) { state in
                    if let state { Unmanaged<WidgetState>.fromOpaque(state).takeUnretainedValue().end() }
                }
            },
            kept
        )
        Signal.connect(object, "map") { [unowned self] _ in wake() }
        Signal.connect(object, "unmap") { [unowned self] _ in rest() }
        if kind == EIDETIC_WIDGET_BUTTON {
            Signal.connectNumber(object, "state-flags-changed") { [unowned self] _ in showPart() }
        }
        MotionSetting.shared.add(self)
    }

    /// The slot of a part, whose loads go through `pipeline`.
    func slot(_ part: ImageWidget.Part, _ pipeline: ImagePipeline) -> WidgetSlot {
        if let slot = slots[part], slot.pipeline === pipeline { return slot }
        slots[part]?.end()
        let slot = WidgetSlot(self, pipeline)
        slots[part] = slot
        showPart()
        return slot
    }

    func existingSlot(_ part: ImageWidget.Part) -> WidgetSlot? { slots[part] }

    /// The widget was destroyed.
    private func end() {
        stopTick()
        widget = nil
        let ended = slots.values
        slots = [:]
        for slot in ended { slot.end() }
    }
}

// MARK: What is seen
extension WidgetState {
    /// The widget that draws: this one, or the child of a button or a marker, which is made where there is none.
    var canvas: UnsafeMutablePointer<GtkWidget>? {
        guard let widget else { return nil }
        guard kind == EIDETIC_WIDGET_BUTTON || kind == EIDETIC_WIDGET_PARENT else { return widget }
        if let child = eidetic_widget_child(widget) {
            let kind = eidetic_widget_kind(child)
            if kind == EIDETIC_WIDGET_PICTURE || kind == EIDETIC_WIDGET_IMAGE { return child }
        }
        guard let child = gtk_picture_new() else { return nil }
        eidetic_widget_set_child(widget, child)
        return child
    }

    /// Shows the part that fits the widget's state: a button has up to three.
    func showPart() {
        guard let canvas, let slot = visibleSlot else { return }
        let paintable = slot.paintable.pointer
        if eidetic_widget_kind(canvas) == EIDETIC_WIDGET_PICTURE {
            let picture = OpaquePointer(canvas)
            if gtk_picture_get_paintable(picture) != paintable { gtk_picture_set_paintable(picture, paintable) }
        } else {
            let image = OpaquePointer(canvas)
            if gtk_image_get_paintable(image) != paintable { gtk_image_set_from_paintable(image, paintable) }
        }
    }

    /// Until a state's own picture is there, the one of the normal state is seen.
    private var visibleSlot: WidgetSlot? {
        guard let widget else { return nil }
        let flags = gtk_widget_get_state_flags(widget).rawValue
        var part = ImageWidget.Part.normal
        if flags & GTK_STATE_FLAG_INSENSITIVE.rawValue != 0 {
            part = .insensitive
        } else if flags & GTK_STATE_FLAG_ACTIVE.rawValue != 0 {
            part = .pressed
        }
        if let slot = slots[part], slot.hasPicture { return slot }
        return slots[.normal] ?? slots[part]
    }
}

// MARK: Movement
extension WidgetState {
    /// Whether the widget is to be seen, as far as the toolkit knows.
    var isMapped: Bool { widget.map { gtk_widget_get_mapped($0) != 0 } ?? false }

    /// Whether pictures may move by themselves: the user can forbid it.
    var allowsMotion: Bool { MotionSetting.shared.allowsMotion }

    /// Follows the frame clock where something moves and can be seen.
    func restartTick() {
        guard tick == 0, let widget, isMapped, slots.values.contains(where: \.needsTick) else { return }
        tick = gtk_widget_add_tick_callback(
            widget,
            { _, clock, state in
                nonisolated(unsafe) let (clock, state) = (clock, state)
                return MainActor.assumeIsolated {
                    guard let state else { return 0 }
                    let time = gdk_frame_clock_get_frame_time(clock)
                    return Unmanaged<WidgetState>.fromOpaque(state).takeUnretainedValue().advance(to: time)
                }
            },
            Unmanaged.passRetained(self).toOpaque(),
            { state in if let state { Unmanaged<WidgetState>.fromOpaque(state).release() } }
        )
    }

    /// Lets everything move on; gives whether the clock is still needed.
    private func advance(to time: Int) -> gboolean {
        let passed = Duration.microseconds(max(0, time - (lastFrame ?? time)))
        lastFrame = time
        MainThreadWatch.measure { for slot in slots.values { slot.advance(by: passed) } }
        // A callback may have ended it already, or begun another.
        guard tick != 0 else { return 0 }
        if slots.values.contains(where: \.needsTick) { return 1 }
        tick = 0
        lastFrame = nil
        return 0
    }

    private func stopTick() {
        guard tick != 0, let widget else { return }
        let id = tick
        tick = 0
        lastFrame = nil
        gtk_widget_remove_tick_callback(widget, id)
    }

    /// Nothing moves in a widget that is not seen.
    private func rest() {
        stopTick()
        for slot in slots.values { slot.rest() }
    }

    private func wake() {
        for slot in slots.values { slot.wake() }
        restartTick()
    }

    /// The user allowed or forbade motion.
    func motionChanged() {
        stopTick()
        for slot in slots.values { slot.motionChanged() }
        restartTick()
    }
}
#endif
