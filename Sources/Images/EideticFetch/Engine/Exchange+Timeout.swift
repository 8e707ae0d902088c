import EideticCore

extension Exchange {
    /// The least rate of the body that is larger than the limit of all bodies, while others wait for it.
    private static let minimumRateWhileOthersWait = 65_536

    /// Returns the time until the exchange times out; records the error if no time is left.
    func remainingTime() -> Duration {
        // Whoever keeps others waiting must hurry.
        let leastRate = share?.holdsOthers ?? false ? Self.minimumRateWhileOthersWait : 0
        let check = timer.check(at: clock.now, limits: request.fetchRequest, leastRate: leastRate)
        if let fault = check.fault, !isCompleteWithoutBody {
            let phase = head == nil ? "before the response" : "within the body"
            fail(EideticError(.timedOut, message: "\(request.origin): \(fault), \(phase) (\(request.url))"))
        }
        return check.remaining
    }
}
