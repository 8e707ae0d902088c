#if GTK
internal import CGTK
import Eidetic

/// The state of one widget: a slot for each of its parts, and the frame clock that moves their images.
///
/// The widget owns the state, and the state does not retain the widget. The loads are cancelled when the widget is
/// destroyed.
@MainActor
final class WidgetState {
    /// The widget; `nil` after its destruction.
    private(set) var widget: UnsafeMutablePointer<GtkWidget>?
    let kind: EideticWidgetKind
    private var slots: [ImageWidget.Part: WidgetSlot] = [:]
    /// The surface that is observed, and the handler of changes of its scale.
    private var observed: (surface: ObjectReference, handler: Signal.HandlerID)?
    private var tickCallback: UInt32 = 0
    private var lastFrameTime: Int?
    /// A Boolean value indicating whether the scrolled windows around the widget hide all of it.
    private(set) var isScrolledOut = false
    /// The number of frames in which they have done so, since they were moved.
    private var hiddenFrameCount = 0

    /// Returns the state of a widget, which is created at the first call.
    ///
    /// - Returns: The state; `nil` if the object is no widget that can show images.
    static func attached(to object: UnsafeMutableRawPointer) -> WidgetState? {
        if let existing = g_object_get_data(object.assumingMemoryBound(to: GObject.self), name) {
            return Unmanaged<WidgetState>.fromOpaque(existing).takeUnretainedValue()
        }
        let kind = eidetic_widget_kind(object)
        return kind == EIDETIC_WIDGET_UNKNOWN ? nil : WidgetState(object: object, kind: kind)
    }

    private static let name = "eidetic-images"

    private init(object: UnsafeMutableRawPointer, kind: EideticWidgetKind) {
        widget = eidetic_widget(object)
        self.kind = kind
        attach(to: object.assumingMemoryBound(to: GObject.self))
        Signal.connect(object, signal: "map") { [unowned self] _ in didMap() }
        Signal.connect(object, signal: "unmap") { [unowned self] _ in didUnmap() }
        if kind == EIDETIC_WIDGET_BUTTON {
            Signal.connectInteger(object, signal: "state-flags-changed") { [unowned self] _ in updatePaintable() }
        }
        if let widget {
            Signal.connect(UnsafeMutableRawPointer(widget), signal: "notify::scale-factor") { [unowned self] _ in
                scaleChanged()
            }
        }
        if isMapped { observeSurface() }
        MotionSetting.shared.add(self)
    }

    /// Makes the object the owner of this state.
    private func attach(to object: UnsafeMutablePointer<GObject>) {
        let retained = Unmanaged.passRetained(self).toOpaque()
        g_object_set_data_full(object, Self.name, retained) { state in
            if let state { Unmanaged<WidgetState>.fromOpaque(state).release() }
        }
        // This is called when the widget is destroyed, even if references to it remain.
        g_object_weak_ref(
            object,
            { state, _ in
                MainActor.runCallback(with: state) { state in
                    if let state { Unmanaged<WidgetState>.fromOpaque(state).takeUnretainedValue().widgetDestroyed() }
                }
            },
            retained
        )
    }

    /// Returns the slot of a part whose loads use `pipeline`, or with `nil` the shared one at the start of each.
    func slot(for part: ImageWidget.Part, pipeline: ImagePipeline?) -> WidgetSlot {
        if let slot = slots[part], slot.ownPipeline === pipeline { return slot }
        slots[part]?.invalidate()
        let slot = WidgetSlot(state: self, pipeline: pipeline)
        slots[part] = slot
        if isMapped { observeScrolling(for: slot) }
        updatePaintable()
        return slot
    }

    func existingSlot(for part: ImageWidget.Part) -> WidgetSlot? { slots[part] }

    private func widgetDestroyed() {
        stopTick()
        endObservation()
        widget = nil
        let ended = slots.values
        slots = [:]
        for slot in ended { slot.invalidate() }
    }
}

// MARK: Visible part
extension WidgetState {
    /// The widget that draws: this widget, or the child of a button or a marker, which is created if there is none.
    var canvas: UnsafeMutablePointer<GtkWidget>? {
        guard let widget else { return nil }
        guard kind == EIDETIC_WIDGET_BUTTON || kind == EIDETIC_WIDGET_PARENT else { return widget }
        if let child = eidetic_widget_child(widget) {
            let kind = eidetic_widget_kind(child)
            if kind == EIDETIC_WIDGET_GTK_PICTURE || kind == EIDETIC_WIDGET_GTK_IMAGE { return child }
        }
        guard let child = gtk_picture_new() else { return nil }
        eidetic_widget_set_child(widget, child)
        return child
    }

    /// Shows the part that matches the state of the widget; a button has up to three parts.
    func updatePaintable() {
        guard let canvas, let paintable = visibleSlot?.paintable.pointer else { return }
        let view = OpaquePointer(canvas)
        if eidetic_widget_kind(canvas) == EIDETIC_WIDGET_GTK_PICTURE {
            if gtk_picture_get_paintable(view) != paintable { gtk_picture_set_paintable(view, paintable) }
        } else {
            if gtk_image_get_paintable(view) != paintable { gtk_image_set_from_paintable(view, paintable) }
        }
    }

    /// The slot of the widget's state if it has an image; otherwise, the slot of the normal state.
    private var visibleSlot: WidgetSlot? {
        guard let widget else { return nil }
        let flags = gtk_widget_get_state_flags(widget).rawValue
        var part = ImageWidget.Part.normal
        if flags & GTK_STATE_FLAG_INSENSITIVE.rawValue != 0 {
            part = .insensitive
        } else if flags & GTK_STATE_FLAG_ACTIVE.rawValue != 0 {
            part = .pressed
        }
        if let slot = slots[part], slot.hasImage { return slot }
        return slots[.normal] ?? slots[part]
    }
}

// MARK: Motion
extension WidgetState {
    var isMapped: Bool { widget.map { gtk_widget_get_mapped($0) != 0 } ?? false }

    var allowsMotion: Bool { MotionSetting.shared.allowsMotion }

    /// Starts the frame clock if a slot of a mapped widget needs it.
    func restartTick() {
        guard tickCallback == 0, let widget, isMapped, needsTick else { return }
        tickCallback = gtk_widget_add_tick_callback(
            widget,
            { _, clock, state in
                MainActor.runCallback(with: (clock, state)) { clock, state in
                    guard let state else { return 0 }
                    let time = gdk_frame_clock_get_frame_time(clock)
                    return Unmanaged<WidgetState>.fromOpaque(state).takeUnretainedValue().advance(to: time)
                }
            },
            Unmanaged.passRetained(self).toOpaque(),
            { state in if let state { Unmanaged<WidgetState>.fromOpaque(state).release() } }
        )
    }

    /// Advances all slots.
    ///
    /// - Returns: 1 if the frame clock is still needed; otherwise, 0.
    private func advance(to time: Int) -> gboolean {
        let elapsed = Duration.microseconds(max(0, time - (lastFrameTime ?? time)))
        lastFrameTime = time
        MainThreadWatch.measure {
            updateVisibility()
            for slot in slots.values { slot.advance(by: elapsed) }
        }
        // A completion may have stopped the clock, or started another.
        guard tickCallback != 0 else { return 0 }
        if needsTick { return 1 }
        tickCallback = 0
        lastFrameTime = nil
        return 0
    }

    /// A Boolean value indicating whether the user may see the widget: it is mapped and not scrolled out of sight.
    var isInView: Bool { isMapped && !isScrolledOut }

    /// The frames in which a widget is looked at before its motion stops, and again after that and each movement: GTK
    /// allocates the places of widgets after the callbacks of the frame in which a window was scrolled.
    private static let hiddenFrameLimit = 3

    /// A Boolean value indicating whether the next frame may change something.
    private var needsTick: Bool {
        slots.values.contains(where: \.needsTick)
            || (isScrolledOut && hiddenFrameCount < 2 * Self.hiddenFrameLimit
                && slots.values.contains(where: \.hasMotion))
    }

    /// Stops the motion of a widget that is scrolled out of sight, and starts it again when a part of it is seen.
    private func updateVisibility() {
        guard let widget, slots.values.contains(where: \.hasMotion) else { return }
        guard ScrollObserver.isScrolledOut(widget) else {
            let wasScrolledOut = isScrolledOut
            isScrolledOut = false
            hiddenFrameCount = 0
            if wasScrolledOut { for slot in slots.values { slot.resumePlayer() } }
            return
        }
        hiddenFrameCount += 1
        guard !isScrolledOut, hiddenFrameCount == Self.hiddenFrameLimit else { return }
        isScrolledOut = true
        for slot in slots.values { slot.suspendPlayer() }
        ScrollObserver.observeWindows(around: widget, for: self)
    }

    /// Looks whether the widget is seen now, after a window around it has moved.
    func windowMoved() {
        hiddenFrameCount = Self.hiddenFrameLimit
        restartTick()
    }

    private func stopTick() {
        guard tickCallback != 0, let widget else { return }
        let identifier = tickCallback
        tickCallback = 0
        lastFrameTime = nil
        gtk_widget_remove_tick_callback(widget, identifier)
    }

    /// Decodes images again for changes of the scale that leave its whole number as it is.
    private func observeSurface() {
        endObservation()
        guard let surface = widget.flatMap({ eidetic_scaled_surface($0) }) else { return }
        let handler = Signal.connect(surface, signal: "notify::scale") { [weak self] _ in self?.scaleChanged() }
        observed = (ObjectReference(adopting: OpaquePointer(surface)), handler)
    }

    private func endObservation() {
        if let observed { Signal.disconnect(observed.surface.rawPointer, handler: observed.handler) }
        observed = nil
    }

    private func scaleChanged() { for slot in slots.values { slot.scaleChanged() } }

    /// Stops all motion after the widget was unmapped.
    private func didUnmap() {
        stopTick()
        endObservation()
        for slot in slots.values { slot.didUnmap() }
    }

    private func didMap() {
        isScrolledOut = false
        hiddenFrameCount = 0
        observeSurface()
        for slot in slots.values {
            observeScrolling(for: slot)
            slot.didMap()
        }
        restartTick()
    }

    private func observeScrolling(for slot: WidgetSlot) {
        if let widget { ScrollObserver.observeWindows(around: widget, pipeline: slot.ownPipeline) }
    }

    /// Applies a change of the user's motion setting.
    func motionChanged() {
        stopTick()
        for slot in slots.values { slot.motionChanged() }
        restartTick()
    }
}
#endif
