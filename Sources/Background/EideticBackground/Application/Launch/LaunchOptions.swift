internal import EideticLifecycle

/// The circumstances of a launch.
public struct LaunchOptions: Sendable, Hashable {
    /// The reason for a launch.
    public enum Reason: Sendable, Hashable {
        /// The user or another program started the application.
        case user
        /// The application was launched to open a URL, which follows with `application(_:open:from:)`.
        case url(String)
        /// The user responded to a notification of the application.
        case notificationResponse(String)
        /// The application was launched into the background for a wake, which follows with
        /// `application(_:performWake:)`.
        case wake(BackgroundWake.Kind)
    }

    /// The reason for the launch.
    public let reason: Reason
    /// A Boolean value indicating whether the application is launched into the background, and must not show a window.
    public let isInBackground: Bool
    /// The state that was saved when the application last entered the background.
    ///
    /// It is `nil` if none was saved, or if the previous launch crashed, so that a bad archive is not restored twice.
    public let archive: [UInt8]?

    package init(reason: Reason = .user, isInBackground: Bool = false, archive: [UInt8]? = nil) {
        self.reason = reason
        self.isInBackground = isInBackground
        self.archive = archive
    }

    /// Creates options from a launch callback; `nil` for another callback.
    init?(_ callback: LifecycleCallback, archive: [UInt8]?) {
        switch callback {
        case .launch(let reason): self.init(reason: Reason(reason), archive: archive)
        case .launchInBackground(let reason):
            self.init(reason: Reason(reason), isInBackground: true, archive: archive)
        default: return nil
        }
    }
}

extension LaunchOptions.Reason {
    init(_ reason: LaunchReason) {
        switch reason {
        case .user: self = .user
        case .url(let url): self = .url(url.text)
        case .notificationResponse(let response): self = .notificationResponse(response)
        case .wake(let kind): self = .wake(BackgroundWake.Kind(kind))
        }
    }
}
