import EideticCore

/// Remembers which origins do not answer, so that they are asked only now and then: a value without a clock of its own.
///
/// After `threshold` failures of transport in a row an origin is left alone for `pause`; then one download may try, and
/// another one after each further `pause`, until something comes.
struct CircuitBreaker: Sendable {
    private struct Trouble {
        var failures = 0
        var lastError: EideticError
        var openUntil: Duration = .zero
        /// Others wait so long for what comes of the one that tries, and no longer: it may be held back itself.
        var probedUntil: Duration = .zero
    }

    /// Failures in a row before an origin is left alone.
    static let threshold = 5
    static let pause: Duration = .seconds(30)
    /// Origins that are remembered at most.
    static let capacity = 1_024

    private var troubles: [Origin: Trouble] = [:]

    /// Lets a download through, or throws the error that the origin failed with last.
    ///
    /// Who `insists` asks in spite of earlier failures.
    ///
    /// - Returns: Whether the download is one that tries.
    mutating func admit(_ origin: Origin, now: Duration, insists: Bool) throws(EideticError) -> Bool {
        guard let trouble = troubles[origin], trouble.failures >= Self.threshold else { return false }
        let end = max(trouble.openUntil, trouble.probedUntil)
        if insists || now >= end {
            troubles[origin]?.probedUntil = now + Self.pause
            return true
        }
        let error = trouble.lastError
        let left = Int((end - now).inSeconds.rounded(.up))
        throw EideticError(
            error.code,
            "\(origin) failed \(trouble.failures) times in a row; not asked for \(left) s (\(error.message))",
            systemErrorNumber: error.systemErrorNumber
        )
    }

    /// Forgets that an origin was in trouble.
    mutating func forget(_ origin: Origin) { troubles[origin] = nil }

    /// Notes how an attempt ended; `nil` where the origin answered.
    mutating func note(_ origin: Origin, _ error: EideticError?, now: Duration) {
        // What never was asked, or not to the end, says nothing about the origin; but it tries no longer.
        if error?.code == .cancelled || error?.code == .offline {
            troubles[origin]?.probedUntil = .zero
            return
        }
        guard let error, error.isTransient, error.httpStatus == nil else { return forget(origin) }
        if troubles.count >= Self.capacity, troubles[origin] == nil { forgetOldest() }
        troubles[origin, default: Trouble(lastError: error)].failures += 1
        troubles[origin]?.lastError = error
        troubles[origin]?.openUntil = now + Self.pause
    }

    /// Forgets everything: the network is another one now.
    mutating func reset() { troubles = [:] }

    private mutating func forgetOldest() {
        if let oldest = troubles.min(by: { $0.value.openUntil < $1.value.openUntil }) { troubles[oldest.key] = nil }
    }
}
