import EideticCore

extension Exchange {
    /// Returns the time until the exchange times out; records the error if no time is left.
    ///
    /// The time of pauses does not count.
    func remainingTime() -> Duration {
        let now = clock.now
        if !pauseReasons.isEmpty { lastActivity = now }
        let timeout = request.fetchRequest.timeout
        let remaining = timeout - (now - lastActivity)
        if remaining <= .zero { failWithTimeout(timeout, isTotal: false) }
        guard let totalTimeout = request.fetchRequest.totalTimeout else { return remaining }
        let remainingTotal = totalTimeout - activeTime
        if remainingTotal <= .zero { failWithTimeout(totalTimeout, isTotal: true) }
        return min(remaining, remainingTotal)
    }

    private func failWithTimeout(_ limit: Duration, isTotal: Bool) {
        if !isCompleteWithoutBody { fail(timeoutError(limit: limit, isTotal: isTotal)) }
    }

    private func timeoutError(limit: Duration, isTotal: Bool) -> EideticError {
        let seconds = "\((limit.inSeconds * 10).rounded() / 10) s"
        let fault = isTotal ? "not complete after \(seconds)" : "no byte for \(seconds)"
        let phase = head == nil ? "before the response" : "within the body"
        return EideticError(.timedOut, message: "\(request.origin): \(fault), \(phase) (\(request.url))")
    }
}
