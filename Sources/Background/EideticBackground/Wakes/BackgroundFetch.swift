import EideticCore
import EideticLifecycle
import EideticSupervision

/// The least time between two background fetches.
public enum BackgroundFetchInterval: Sendable, Hashable {
    /// No background fetches; the initial value.
    case never
    /// As often as the supervisor permits: at most every 15 min.
    case minimum
    /// At least this time, 15 min or more.
    case atLeast(Duration)
}

extension Application {
    /// Asks the supervisor to wake the application for background fetches.
    ///
    /// The time is chosen by the habits of the user, so that new content is there shortly before the application is
    /// opened; it is never guaranteed. Fetches without new data become rarer. The interval is kept over launches. It
    /// requires the background mode `fetch`, and has no effect without a supervisor.
    ///
    /// - Parameter interval: The least time between two fetches.
    public func setMinimumBackgroundFetchInterval(_ interval: BackgroundFetchInterval) {
        switch interval {
        case .never: wakeCenter.post(.setFetchInterval(.never))
        case .minimum: wakeCenter.post(.setFetchInterval(.minimum))
        case .atLeast(let duration):
            wakeCenter.post(.setFetchInterval(.seconds(duration.components.seconds)))
        }
    }

    /// Asks for an address to which servers send silent messages, by a distributor of UnifiedPush.
    ///
    /// The address, or the reason for which there is none, is passed to the delegate; it may change later. Requires the
    /// background mode `remote-notification` and a supervisor.
    public func registerForRemoteNotifications() { wakeCenter.post(.registerForMessages) }

    /// Ends the registration for messages of servers.
    public func unregisterForRemoteNotifications() { wakeCenter.post(.unregisterFromMessages) }
}

/// A silent message of a server.
public struct RemoteNotification: Sendable, Hashable {
    /// The JSON of the message: an object with `content-available`, at most 4,096 bytes, which are not trusted.
    public let payload: [UInt8]

    init(payload: [UInt8]) { self.payload = payload }
}
