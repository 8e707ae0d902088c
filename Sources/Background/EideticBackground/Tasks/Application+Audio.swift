internal import EideticCore
internal import EideticLifecycle

extension Application {
    /// Tells the supervisor that the application plays or records sound: it is not suspended in the background, and
    /// uses up no background time.
    ///
    /// This lasts until ``endAudio()`` has been called as often. Expired background tasks get no more time. A request
    /// to terminate is not delayed. It requires the background mode `audio`.
    public func beginAudio() { count(.audio, change: 1) }

    /// Tells the supervisor that the sound has ended; has no effect if it was not begun.
    public func endAudio() { count(.audio, change: -1) }

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
