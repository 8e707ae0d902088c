/// A process that is being killed.
struct KilledProcess: Sendable, Hashable {
    let reason: KillReason
    let wasLaunching: Bool
    let openTasks: Int
}

struct TerminationProgress: Sendable, Hashable {
    /// The time of the next extension of the service manager's timeout.
    var nextExtension: Duration?
    /// The time at which the process must have exited after `willTerminate`.
    var exitDeadline: Duration?
    /// The process that the host is killing, until it has exited.
    var killedProcess: KilledProcess?

    /// Starts the limit of the exit again if it has passed.
    mutating func restartExitLimit(_ limit: Duration, at now: Duration) {
        if let end = exitDeadline, end <= now { exitDeadline = now + limit }
    }

    /// Takes the extension of the timeout that is due; returns `false` if none is.
    mutating func takeExtension(interval: Duration, at now: Duration) -> Bool {
        guard let time = nextExtension, time <= now else { return false }
        nextExtension = now + interval
        return true
    }
}

/// The progress of a sleep of the machine.
struct SleepProgress: Sendable, Hashable {
    /// The time at which open tasks expire.
    let expirationTime: Duration
    /// The time at which the machine may sleep in any case.
    let releaseTime: Duration
    var isReleased = false

    /// Begins a sleep before which tasks have a limit.
    init(within limit: Duration, reserve: Duration, at now: Duration) {
        expirationTime = now + limit - min(limit / 2, reserve)
        releaseTime = now + limit
    }

    /// The time at which the machine is allowed to sleep; `nil` if it was.
    var deadline: Duration? { isReleased ? nil : releaseTime }
}

/// The facts from which the target state follows; none of them changes another.
package struct PresentationFacts: Sendable, Hashable {
    package internal(set) var isVisible = true
    package internal(set) var hasFocus = true
    var isLocked = false
    /// A Boolean value indicating whether a shell has stopped the job, or continues it in the background.
    var isHeldByJobControl = false

    /// Visible and with the user's input: active; visible only: inactive.
    var state: TargetState {
        if !isVisible || isHeldByJobControl { return .background }
        return hasFocus && !isLocked ? .active : .inactive
    }
}

/// The last warnings about memory, by their levels.
struct MemoryWarnings: Sendable, Hashable {
    private var times: [Int: Duration] = [:]

    /// Records a warning; returns `false` if there was one of the level in the interval.
    mutating func record(_ level: Int, interval: Duration, at now: Duration) -> Bool {
        if let last = times[level], now - last < interval { return false }
        times[level] = now
        return true
    }
}
