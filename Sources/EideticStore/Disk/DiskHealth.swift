import EideticCore
import Glibc

/// Remembers that the device failed: writing stops for a while, reading goes on.
final class DiskHealth: Sendable {
    private static let pause = Duration.seconds(60)

    private let time: any TimeSource
    private let failure = Guarded<(error: SystemError, until: Duration)?>(nil)

    init(time: any TimeSource) { self.time = time }

    /// Throws `fileFailure` within a minute of a failure of the device.
    func check() throws(EideticError) {
        let now = time.uptime
        guard let failure = failure.withLock({ $0 }), now < failure.until else { return }
        throw EideticError(
            .fileFailure,
            "the cache does not write for a minute, since the device failed: \(failure.error)",
            systemErrorNumber: failure.error.number
        )
    }

    /// Notes an error of a write.
    func note(_ error: SystemError) {
        guard error.number == EIO || error.number == EROFS else { return }
        Log.write(.error, .store, "writing is stopped for a minute: \(error)")
        failure.withLock { [until = time.uptime + Self.pause] in $0 = (error, until) }
    }
}
