import EideticCore
import Glibc

/// Remembers that the device failed: writing stops for a while, reading goes on.
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
            message: "the cache does not write for a minute, since the device failed: \(failure.error)",
            systemErrorNumber: failure.error.errorNumber
        )
    }

    /// Notes an error of a write.
    func record(_ error: SystemError) {
        guard error.errorNumber == EIO || error.errorNumber == EROFS else { return }
        Log.write(.error, category: .store, message: "writing is stopped for a minute: \(error)")
        failure.withLock { [until = time.uptime + Self.pauseDuration] in $0 = (error, until) }
    }
}
