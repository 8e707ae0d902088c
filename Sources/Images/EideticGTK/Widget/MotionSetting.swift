#if GTK
internal import CGTK

/// The desktop's setting "reduce motion", which GTK names `gtk-enable-animations`.
@MainActor
final class MotionSetting {
    static let shared = MotionSetting()

    private struct Observer { weak var state: WidgetState? }

    private var observers: [ObjectIdentifier: Observer] = [:]
    private var sweepThreshold = 64
    private let settings: UnsafeMutableRawPointer?
    private(set) var allowsMotion = true

    private init() {
        // Without a display there are no settings.
        settings = gtk_settings_get_default().map { UnsafeMutableRawPointer($0) }
        guard let settings else { return }
        allowsMotion = eidetic_get_boolean(settings, "gtk-enable-animations") != 0
        Signal.connect(settings, signal: "notify::gtk-enable-animations") { [unowned self] _ in settingChanged() }
    }

    /// Adds an observer of changes, which is not retained.
    func add(_ state: WidgetState) {
        observers[ObjectIdentifier(state)] = Observer(state: state)
        guard observers.count > sweepThreshold else { return }
        observers = observers.filter { $0.value.state != nil }
        sweepThreshold = max(64, 2 * observers.count)
    }

    private func settingChanged() {
        guard let settings else { return }
        allowsMotion = eidetic_get_boolean(settings, "gtk-enable-animations") != 0
        for observer in observers.values { observer.state?.motionChanged() }
    }
}
#endif
