/// A state of an application.
package enum LifecycleState: UInt8, Sendable, Hashable, CaseIterable {
    case notRunning, launching, launchingInBackground, inactive, active, background
    /// A freeze was requested and is not yet confirmed.
    case suspending
    case suspended
    /// Termination was requested; callbacks and open tasks have their time.
    case terminating
}

/// A callback into the application; one at a time, each of which the application acknowledges.
package enum LifecycleCallback: Sendable, Hashable {
    /// `willFinishLaunching` and `didFinishLaunching`, for the user.
    case launch(LaunchReason)
    /// `willFinishLaunching` and `didFinishLaunching`, directly into the background.
    case launchInBackground(LaunchReason)
    case didBecomeActive, willResignActive, didEnterBackground, willEnterForeground
    case openURL(IncomingURL)
    case wake(WakeReason)
    case willTerminate
}

/// The reason for launching an application.
package enum LaunchReason: Sendable, Hashable {
    case user
    case url(IncomingURL)
    case notificationResponse(String)
    /// A wake, which follows the launch as a callback of its own.
    case wake(WakeReason.Kind)
}

/// The phase that governs whether background tasks may start.
package enum TaskPhase: UInt32, Sendable, Hashable {
    case foreground, background
    /// Expiration handlers run; no task may start.
    case expiring
    /// `willTerminate` runs; no task may start.
    case terminating

    /// A Boolean value indicating whether background tasks may start.
    package var admitsTasks: Bool { self == .foreground || self == .background }
}

/// The identity of one process of an application: the number of its launches up to this process.
///
/// Events name the process they come from, so that those of an earlier process do not change a later one.
package struct ProcessIdentity: Sendable, Hashable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The first process of a ``Lifecycle``.
    package static let first = ProcessIdentity(rawValue: 1)

    var next: ProcessIdentity { ProcessIdentity(rawValue: rawValue &+ 1) }
}
