import EideticLifecycle
import EideticSupervision

/// The minimum time between two background fetches.
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
    /// The supervisor learns when the user opens the application, and times fetches shortly before that; no time is
    /// guaranteed. Fetches without new data become less frequent. The interval persists over launches. It requires the
    /// background mode `fetch`, and has no effect without a supervisor.
    ///
    /// - Parameter interval: The minimum time between two fetches.
    public func setMinimumBackgroundFetchInterval(_ interval: BackgroundFetchInterval) {
        switch interval {
        case .never: wakeCenter.post(.setFetchInterval(.never))
        case .minimum: wakeCenter.post(.setFetchInterval(.minimum))
        case .atLeast(let duration):
            wakeCenter.post(.setFetchInterval(.seconds(duration.components.seconds)))
        }
    }

    /// Requests an address for silent push messages, from a UnifiedPush distributor.
    ///
    /// The address, or the reason why there is none, is passed to the delegate; it may change later. Requires the
    /// background mode `remote-notification` and a supervisor.
    public func registerForRemoteNotifications() { wakeCenter.post(.registerForMessages) }

    /// Ends the registration for push messages.
    public func unregisterForRemoteNotifications() { wakeCenter.post(.unregisterFromMessages) }
}
