import EideticCore

/// Remembers which origins do not answer, so that they are asked only now and then: a value without a clock of its own.
///
/// After `threshold` failures of transport in a row an origin is left alone for `pause`; then one download may try, and
/// another one after each further `pause`, until something comes.
struct CircuitBreaker: Sendable {
    private struct Circuit {
        var failureCount = 0
        var lastError: EideticError
        var openUntil: Duration = .zero
        /// Others wait so long for what comes of the one that tries, and no longer: it may be held back itself.
        var halfOpenUntil: Duration = .zero
    }

    /// Failures in a row before an origin is left alone.
    static let failureThreshold = 5
    static let openInterval: Duration = .seconds(30)
    /// Origins that are remembered at most.
    static let capacity = 1_024

    private var circuits: [Origin: Circuit] = [:]

    /// Lets a download through, or throws the error that the origin failed with last.
    ///
    /// Who `insists` asks in spite of earlier failures.
    ///
    /// - Returns: Whether the download is one that tries.
    mutating func admit(_ origin: Origin, now: Duration, isForced: Bool) throws(EideticError) -> Bool {
        guard let circuit = circuits[origin], circuit.failureCount >= Self.failureThreshold else { return false }
        let end = max(circuit.openUntil, circuit.halfOpenUntil)
        if isForced || now >= end {
            circuits[origin]?.halfOpenUntil = now + Self.openInterval
            return true
        }
        let error = circuit.lastError
        let left = Int((end - now).inSeconds.rounded(.up))
        throw EideticError(
            error.code,
            message:
                "\(origin) failed \(circuit.failureCount) times in a row; not asked for \(left) s (\(error.message))",
            systemErrorNumber: error.systemErrorNumber
        )
    }

    /// Forgets that an origin was in trouble.
    mutating func close(_ origin: Origin) { circuits[origin] = nil }

    /// Notes how an attempt ended; `nil` where the origin answered.
    mutating func recordResult(of origin: Origin, error: EideticError?, now: Duration) {
        // What never was asked, or not to the end, says nothing about the origin; but it tries no longer.
        if error?.code == .cancelled || error?.code == .offline {
            circuits[origin]?.halfOpenUntil = .zero
            return
        }
        guard let error, error.isTransient, error.httpStatus == nil else { return close(origin) }
        if circuits.count >= Self.capacity, circuits[origin] == nil { removeOldest() }
        circuits[origin, default: Circuit(lastError: error)].failureCount += 1
        circuits[origin]?.lastError = error
        circuits[origin]?.openUntil = now + Self.openInterval
    }

    /// Forgets everything: the network is another one now.
    mutating func reset() { circuits = [:] }

    private mutating func removeOldest() {
        if let oldest = circuits.min(by: { $0.value.openUntil < $1.value.openUntil }) { circuits[oldest.key] = nil }
    }
}
