internal import EideticCore
internal import EideticLifecycle

/// An activity that keeps a supervised application running in the background while it lasts.
public enum ContinuousActivity: Sendable, Hashable, CaseIterable {
    /// The application plays or records sound.
    case audio

    fileprivate var assertion: ContinuousAssertion {
        switch self {
        case .audio: .audio
        }
    }
}

extension Application {
    /// Begins an activity, during which the application is not suspended in the background and uses up no background
    /// time.
    ///
    /// It lasts until ``endContinuousActivity(_:)`` has been called as often. Expired background tasks get no more
    /// time. A request to terminate is not delayed.
    public func beginContinuousActivity(_ activity: ContinuousActivity) { count(activity.assertion, change: 1) }

    /// Ends an activity; has no effect if it was not begun.
    public func endContinuousActivity(_ activity: ContinuousActivity) { count(activity.assertion, change: -1) }

    /// Counts the reasons for an assertion, and makes it with the first one until the last one ends.
    func count(_ assertion: ContinuousAssertion, change: Int) {
        // Posted under the lock, so that the order of the events is that of the changes.
        activities.withLock { counts in
            let old = counts[assertion, default: 0]
            let new = max(0, old + change)
            counts[assertion] = new
            guard (old == 0) != (new == 0) else { return }
            inbox.post([.assertionChanged(assertion, isHeld: new > 0, process: .first)])
        }
    }
}
