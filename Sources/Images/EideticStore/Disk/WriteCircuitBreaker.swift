import EideticCore
import Glibc

/// A circuit breaker that stops writes for a minute after a failure of the device.
///
/// Reads are not affected.
final class WriteCircuitBreaker: Sendable {
    private static let pauseDuration = Duration.seconds(60)

    private let time: any TimeSource
    private let failure = Guarded<(error: SystemError, until: Duration)?>(nil)

    init(time: any TimeSource) { self.time = time }

    /// Throws `fileFailure` within a minute of a failure of the device.
    func check() throws(EideticError) {
        let now = time.uptime
        guard let failure = failure.withLock({ $0 }), now < failure.until else { return }
        throw EideticError(
            .fileFailure,
            message: "the cache has stopped writing for a minute because the device failed: \(failure.error)",
            systemErrorNumber: failure.error.errorNumber
        )
    }

    /// Records the error of a write; a failure of the device stops further writes.
    func record(_ error: SystemError) {
        guard error.errorNumber == EIO || error.errorNumber == EROFS else { return }
        Log.write(.error, category: .store, message: "writes are stopped for a minute: \(error)")
        failure.withLock { [until = time.uptime + Self.pauseDuration] in $0 = (error, until) }
    }
}
