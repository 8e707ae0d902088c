/// A launch that was requested while the previous process was ending.
package struct WaitingLaunch: Sendable, Hashable {
    /// The reason for a launch that the user sees.
    private(set) var reason: LaunchReason?
    /// The reason for one that shows nothing.
    private var backgroundReason: LaunchReason?
    package internal(set) var urls: [IncomingURL] = []
    package internal(set) var wakes: [OpenWake] = []

    var isEmpty: Bool { reason == nil && backgroundReason == nil && wakes.isEmpty }

    /// A Boolean value indicating whether the launch shows the application; `nil` if none waits, except for a wake.
    package var isVisible: Bool? { reason != nil ? true : backgroundReason != nil ? false : nil }

    /// The callback of the launch; `nil` if none waits.
    var callback: LifecycleCallback? {
        if let reason { return .launch(reason) }
        if let wake = wakes.first { return .launchInBackground(.wake(wake.reason.kind)) }
        return backgroundReason.map { .launchInBackground($0) }
    }

    /// Adds a launch; the first reason that is not merely the user's choice is kept.
    mutating func add(_ next: LaunchReason) { if reason == nil || reason == .user { reason = next } }

    mutating func addBackgroundLaunch(for next: LaunchReason) { backgroundReason = backgroundReason ?? next }

    /// Takes the wakes that are not carried out.
    mutating func takeWakes(where isTaken: (WakeReason.Kind) -> Bool) -> [WakeReason] {
        defer { wakes.removeAll { isTaken($0.reason.kind) } }
        return wakes.map(\.reason).filter { isTaken($0.kind) }
    }
}
