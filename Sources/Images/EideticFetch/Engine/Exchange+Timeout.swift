import EideticCore

extension Exchange {
    /// Returns the time until the exchange times out; records the error if no time is left.
    ///
    /// The time of pauses does not count.
    func remainingTime() -> Duration {
        let now = clock.now
        if !pauseReasons.isEmpty { lastActivity = now }
        let timeout = request.fetchRequest.timeout
        var remaining = timeout - (now - lastActivity)
        if remaining <= .zero { failWithTimeout("no byte for \(Self.text(for: timeout))") }
        if let left = remainingRateTime() { remaining = min(remaining, left) }
        guard let totalTimeout = request.fetchRequest.totalTimeout else { return remaining }
        let remainingTotal = totalTimeout - activeTime
        if remainingTotal <= .zero { failWithTimeout("not complete after \(Self.text(for: totalTimeout))") }
        return min(remaining, remainingTotal)
    }

    /// Records that bytes of the response arrived.
    func recordActivity(byteCount: Int) {
        lastActivity = clock.now
        rateWindow.add(byteCount, at: activeTime)
    }

    /// Returns the time until the least rate is checked; records the error if the response arrived too slowly.
    private func remainingRateTime() -> Duration? {
        var rate = request.fetchRequest.minimumBytesPerSecond
        // Whoever keeps others waiting must hurry.
        if share?.holdsOthers ?? false { rate = max(rate, Self.minimumRateWhileOthersWait) }
        guard rate > 0 else { return nil }
        let length = request.fetchRequest.rateWindow
        let result = rateWindow.check(at: activeTime, length: length, bytesPerSecond: rate)
        if result == .zero { failWithTimeout("less than \(rate) bytes per second for \(Self.text(for: length))") }
        return result
    }

    /// The least rate of the body that is larger than the limit of all bodies, while others wait for it.
    private static let minimumRateWhileOthersWait = 65_536

    private func failWithTimeout(_ fault: String) {
        if !isCompleteWithoutBody { fail(timeoutError(fault)) }
    }

    private static func text(for limit: Duration) -> String { "\((limit.inSeconds * 10).rounded() / 10) s" }

    private func timeoutError(_ fault: String) -> EideticError {
        let phase = head == nil ? "before the response" : "within the body"
        return EideticError(.timedOut, message: "\(request.origin): \(fault), \(phase) (\(request.url))")
    }
}
