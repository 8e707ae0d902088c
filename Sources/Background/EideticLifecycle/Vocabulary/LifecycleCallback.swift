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
