/// The reason for launching an application.
package enum LaunchReason: Sendable, Hashable {
    case user
    case url(IncomingURL)
    case notificationResponse(String)
    /// A wake, which follows the launch as a callback of its own.
    case wake(WakeReason.Kind)
}
