#if GTK
internal import CGTK

/// The desktop's setting "reduce motion", `gtk-enable-animations` in GTK's words.
@MainActor
final class MotionSetting {
    static let shared = MotionSetting()

    private struct Follower { weak var state: WidgetState? }

    private var followers: [ObjectIdentifier: Follower] = [:]
    private var sweepCount = 64
    private let settings: UnsafeMutableRawPointer?
    private(set) var allowsMotion = true

    private init() {
        // Without a display there are no settings.
        settings = gtk_settings_get_default().map { UnsafeMutableRawPointer($0) }
        guard let settings else { return }
        allowsMotion = eidetic_get_boolean(settings, "gtk-enable-animations") != 0
        Signal.connect(settings, "notify::gtk-enable-animations") { [unowned self] _ in change() }
    }

    /// Tells `state` of changes as long as it lives.
    func add(_ state: WidgetState) {
        followers[ObjectIdentifier(state)] = Follower(state: state)
        guard followers.count > sweepCount else { return }
        followers = followers.filter { $0.value.state != nil }
        sweepCount = max(64, 2 * followers.count)
    }

    private func change() {
        guard let settings else { return }
        allowsMotion = eidetic_get_boolean(settings, "gtk-enable-animations") != 0
        for follower in followers.values { follower.state?.motionChanged() }
    }
}
#endif
