import EideticCore

/// Remembers which origins do not answer, so that they are asked only now and then: a value without a clock of its own.
///
/// After `threshold` failures of transport in a row an origin is left alone for `pause`; then one download may try, and
/// decides for all.
struct CircuitBreaker: Sendable {
    private struct Trouble {
        var failures = 0
        var lastError: EideticError
        var openUntil: Duration = .zero
        var isProbing = false
    }

    /// Failures in a row before an origin is left alone.
    static let threshold = 5
    static let pause: Duration = .seconds(30)
    /// Origins that are remembered at most.
    static let capacity = 1_024

    private var troubles: [Origin: Trouble] = [:]

    /// Lets a download through, or throws the error that the origin failed with last.
    ///
    /// Who `insists` asks in spite of earlier failures, and may be the one that tries before the time.
    mutating func admit(_ origin: Origin, now: Duration, insists: Bool) throws(EideticError) {
        guard let trouble = troubles[origin], trouble.failures >= Self.threshold else { return }
        if !trouble.isProbing, insists || now >= trouble.openUntil {
            troubles[origin]?.isProbing = true
            return
        }
        let error = trouble.lastError
        let left = max(0, Int((trouble.openUntil - now).inSeconds.rounded(.up)))
        let wait = trouble.isProbing ? "another download tries" : "not asked for \(left) s"
        throw EideticError(
            error.code,
            "\(origin) failed \(trouble.failures) times in a row; \(wait) (\(error.message))",
            systemErrorNumber: error.systemErrorNumber
        )
    }

    /// Notes how an attempt ended; `nil` where the origin answered.
    mutating func note(_ origin: Origin, _ error: EideticError?, now: Duration) {
        guard let error, error.isTransient, error.httpStatus == nil else {
            // A cancelled attempt says nothing about the origin, but its probe is over.
            if error?.code == .cancelled { troubles[origin]?.isProbing = false } else { troubles[origin] = nil }
            return
        }
        if troubles.count >= Self.capacity, troubles[origin] == nil { forgetOldest() }
        troubles[origin, default: Trouble(lastError: error)].failures += 1
        troubles[origin]?.lastError = error
        troubles[origin]?.openUntil = now + Self.pause
        troubles[origin]?.isProbing = false
    }

    /// Forgets everything: the network is another one now.
    mutating func reset() { troubles = [:] }

    private mutating func forgetOldest() {
        if let oldest = troubles.min(by: { $0.value.openUntil < $1.value.openUntil }) { troubles[oldest.key] = nil }
    }
}
