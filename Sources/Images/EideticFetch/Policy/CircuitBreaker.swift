import EideticCore

/// A circuit breaker for each origin, as a value without a clock of its own.
///
/// After `failureThreshold` exchanges in a row that could not reach an origin its circuit opens: downloads fail at
/// once, without a request. After `openInterval` it is half open: one download is sent as a probe, and another one
/// after each further `openInterval`, until a response arrives and closes the circuit. An origin that answers is not
/// down, whatever it answers. Exchanges that were under way when another one failed, and whose connection is
/// lost, are no failures of their own: many wait for one connection, or connect at the same moment.
struct CircuitBreaker: Sendable {
    private struct Circuit {
        var failureCount = 0
        var lastError: EideticError
        var openUntil: Duration = .zero
        /// The time of the last failure that was counted.
        var failureTime: Duration = .zero
        /// The time until which other downloads wait for the result of the probe.
        ///
        /// It is limited, because the probe itself may be suspended.
        var halfOpenUntil: Duration = .zero
    }

    /// The number of failures in a row that opens a circuit.
    static let failureThreshold = 5
    /// The time that a circuit stays open.
    static let openInterval: Duration = .seconds(5)
    /// The largest number of origins with a circuit.
    static let capacity = 1_024

    private var circuits: [Origin: Circuit] = [:]

    /// Admits a download, or throws the last error of the origin while its circuit is open.
    ///
    /// - Parameters:
    ///   - origin: The origin to send a request to.
    ///   - url: The URL of the request.
    ///   - now: The current time.
    ///   - isForced: A Boolean value indicating whether the download is admitted while the circuit is open.
    /// - Returns: `true` if the download is a probe; otherwise, `false`.
    /// - Throws: The last error of the origin.
    mutating func admit(
        _ origin: Origin,
        url: String,
        now: Duration,
        isForced: Bool
    ) throws(EideticError) -> Bool {
        guard let circuit = circuits[origin], circuit.failureCount >= Self.failureThreshold else { return false }
        let end = max(circuit.openUntil, circuit.halfOpenUntil)
        if isForced || now >= end {
            circuits[origin]?.halfOpenUntil = now + Self.openInterval
            return true
        }
        let error = circuit.lastError
        let seconds = Int((end - now).inSeconds.rounded(.up))
        throw error.remembered(
            message: "\(url): not sent, because \(origin) could not be reached \(circuit.failureCount) times in a row; "
                + "the next attempt is possible in \(seconds) s (\(error.message))"
        )
    }

    mutating func close(_ origin: Origin) { circuits[origin] = nil }

    /// Records the result of an attempt.
    ///
    /// - Parameters:
    ///   - origin: The origin.
    ///   - error: The error; `nil` for a response.
    ///   - isUnreachable: A Boolean value indicating whether the origin could not be reached.
    ///   - startTime: The time at which the attempt began.
    ///   - now: The time at which it ended.
    mutating func recordResult(
        of origin: Origin,
        error: EideticError?,
        isUnreachable: Bool,
        startTime: Duration,
        now: Duration
    ) {
        // An attempt that was not sent or not completed proves nothing about the origin, but it is a probe no longer.
        if error?.code == .cancelled || error?.code == .offline {
            circuits[origin]?.halfOpenUntil = .zero
            return
        }
        guard let error, FailureConsequences(of: error, isUnreachable: isUnreachable).countsAgainstOrigin else {
            return close(origin)
        }
        if let circuit = circuits[origin], startTime < circuit.failureTime, error.code == .connectionLost { return }
        if circuits.count >= Self.capacity, circuits[origin] == nil { removeOldest() }
        circuits[origin, default: Circuit(lastError: error)].failureCount += 1
        circuits[origin]?.failureTime = now
        circuits[origin]?.lastError = error
        circuits[origin]?.openUntil = now + Self.openInterval
    }

    /// Closes all circuits, after a change of the network.
    mutating func reset() { circuits = [:] }

    private mutating func removeOldest() {
        if let oldest = circuits.min(by: { $0.value.openUntil < $1.value.openUntil }) { circuits[oldest.key] = nil }
    }
}
