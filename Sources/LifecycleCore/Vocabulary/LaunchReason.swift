/// The reason for launching an application for the user.
package enum LaunchReason: Sendable, Hashable {
    case user
    case url(String)
    case notificationResponse(String)
}
