package import EideticCore

/// The consequences of a failed attempt, for all that sends requests; the first table of `docs/fetch-outcomes.md`.
package struct FailureConsequences: Sendable, Hashable {
    /// A Boolean value indicating whether a download makes another attempt, as far as its policy allows it.
    package let isRetried: Bool
    /// The time for which the request is not sent again; `nil` if the failure is not remembered.
    package let lifetime: Duration?
    package let countsAgainstOrigin: Bool
    /// A Boolean value indicating whether a transfer is attempted again later.
    package let isAttemptedLater: Bool

    /// Returns the consequences of a failure.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - isUnreachable: A Boolean value indicating whether the origin could not be reached.
    ///   - policy: The lifetimes of failures that are remembered.
    package init(of error: EideticError, isUnreachable: Bool = false, policy: FailurePolicy = FailurePolicy()) {
        isRetried = error.isTransient
        lifetime = isRetried ? nil : policy.lifetime(of: error)
        // An origin that answers is not down, whatever it answers.
        countsAgainstOrigin = isRetried && isUnreachable
        isAttemptedLater = isRetried || Self.patientCodes.contains(error.code)
    }

    /// The failures that may be over in some hours: of a server that is being repaired, and of this machine.
    private static let patientCodes: Set<EideticError.Code> = [
        .httpStatus, .badResponse, .diskFull, .limitExceeded, .outOfMemory, .fileFailure,
    ]
}
