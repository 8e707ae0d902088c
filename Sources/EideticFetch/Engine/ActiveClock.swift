/// Time in which this process ran: a stop (SIGSTOP, the freezer, a debugger) between two looks does not count.
///
/// The engine looks at least once in `longestWait`. A look that comes later than that by more than `slack` was held up, and
/// what it was held up by is not the server. Lives on one thread.
///
/// - SeeAlso: Requirement L24.
package final class ActiveClock {
    /// The longest time the engine sleeps while transfers are under way.
    package static let maximumWait: Duration = .milliseconds(500)
    private static let tolerance: Duration = .milliseconds(500)

    /// Time that counts, since the clock was made.
    package private(set) var now: Duration = .zero
    /// How often the process was found to have been stopped.
    package private(set) var stopCount = 0
    private var lastUptime: Duration

    package init(uptime: Duration) { lastUptime = uptime }

    /// Moves on to `uptime`; `isIdle` where the engine slept without any transfer, however long.
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
