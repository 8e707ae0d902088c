/// Where an application stands.
package enum LifecycleState: Sendable, Hashable {
    case notRunning, launching, inactive, active, background
    /// On the way to `suspended`: a freeze was asked for and is not yet verified.
    case suspending
    case suspended
    /// On the way out; callbacks and open tasks have their time.
    case terminating
}

/// What the gate for new background tasks goes by.
package enum TaskPhase: UInt32, Sendable, Hashable {
    case foreground, background
    /// Handlers are called; nothing new may begin.
    case expiring
    /// `willTerminate` is under way; nothing new may begin.
    case terminating

    /// Whether a background task may begin.
    package var admitsTasks: Bool { self == .foreground || self == .background }
}

/// Why an application is launched for the user.
package enum LaunchReason: Sendable, Hashable {
    case user
    case url(String)
    case notificationResponse(String)
}

/// Why an application is woken, or launched, without being seen.
package struct WakeReason: Sendable, Hashable {
    package enum Kind: Sendable, Hashable, CaseIterable {
        case fetch, push, session, processing, notification
    }

    package let kind: Kind
    /// Tells wakes of one life apart; completions name it.
    package let id: UInt64

    package init(_ kind: Kind, id: UInt64) {
        self.kind = kind
        self.id = id
    }
}

/// What an application is told, one at a time, and acknowledges.
package enum LifecycleCallback: Sendable, Hashable {
    /// `willFinishLaunching` and `didFinishLaunching`, for the user.
    case launch(LaunchReason)
    /// The same, straight into the background.
    case launchInBackground
    case didBecomeActive, willResignActive, didEnterBackground, willEnterForeground
    case openURL(String)
    case wake(WakeReason)
    case willTerminate
}
