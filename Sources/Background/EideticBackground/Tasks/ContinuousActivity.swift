internal import EideticCore
internal import EideticLifecycle

/// An activity for which a supervised application runs in the background for as long as it lasts.
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
    /// Begins an activity: in the background the application is not suspended, and its time stands still, until
    /// ``endContinuousActivity(_:)`` was called as often.
    ///
    /// A background task whose time has expired is not given more. A request to terminate is not delayed.
    public func beginContinuousActivity(_ activity: ContinuousActivity) { count(activity.assertion, change: 1) }

    /// Ends an activity; a call without a beginning has no effect.
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
