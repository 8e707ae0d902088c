/// A state of an application.
package enum LifecycleState: UInt8, Sendable, Hashable, CaseIterable {
    case notRunning, launching, launchingInBackground, inactive, active, background
    /// A freeze was requested and is not yet confirmed.
    case suspending
    case suspended
    /// Termination was requested; callbacks and open tasks have their time.
    case terminating
}
