/// A clock that counts only the time during which the process runs.
///
/// Time during which the process is stopped (SIGSTOP, the freezer, a debugger) does not count, so that it ends no
/// download. The engine advances the clock at least every `maximumWait`. If an advance is later than that by more than
/// `tolerance`, the process was stopped. The clock is used on one thread only.
package final class ActiveClock {
    /// The longest time that the engine sleeps while exchanges run.
    package static let maximumWait: Duration = .milliseconds(500)
    private static let tolerance: Duration = .milliseconds(500)

    /// The time since the clock was created, without stops.
    package private(set) var now: Duration = .zero
    /// The number of stops of the process that were detected.
    package private(set) var stopCount = 0
    private var lastUptime: Duration

    package init(uptime: Duration) { lastUptime = uptime }

    /// Advances the clock.
    ///
    /// - Parameters:
    ///   - uptime: The time of the system.
    ///   - isIdle: A Boolean value indicating whether the engine slept without a limit, because no exchange ran.
    package func advance(to uptime: Duration, isIdle: Bool = false) {
        let passed = uptime - lastUptime
        lastUptime = uptime
        if passed > Self.maximumWait + Self.tolerance, !isIdle {
            stopCount += 1
            now += Self.maximumWait
        } else {
            now += passed
        }
    }
}
