extension Lifecycle {
    /// The facts from which the target state follows; none of them changes another.
    struct PresentationFacts: Sendable, Hashable {
        var isVisible = true
        var hasFocus = true
        var isLocked = false
        /// A Boolean value indicating whether a shell has stopped the job, or continues it in the background.
        var isHeldByJobControl = false

        /// Visible and with the user's input: active; visible only: inactive.
        var state: TargetState {
            if !isVisible || isHeldByJobControl { return .background }
            return hasFocus && !isLocked ? .active : .inactive
        }
    }

    /// The background time: its remainder, and its end while it runs.
    struct Budget: Sendable, Hashable {
        /// The remaining time; `nil` for no limit.
        var remaining: Duration?
        var isRunning = false
        /// The end of background time; set while it runs, unless it has no limit.
        var deadline: Duration?
        /// The time of the last return to the foreground; `nil` before the first stay in the background.
        var foregroundSince: Duration?
        /// The time at which the process is killed if tasks are open; set at expiration, cleared when all tasks have
        /// ended.
        var killDeadline: Duration?
        /// A Boolean value indicating whether the background time has expired: no task may start until the application
        /// returns to the foreground or is woken.
        var isExpired = false
        /// The wake whose missing completion caused the expiration.
        var overdueWake: WakeReason?
    }

    /// The wakes of the current process that are not completed.
    struct OpenWakes: Sendable, Hashable {
        struct OpenWake: Sendable, Hashable {
            let reason: WakeReason
            let allowance: Duration
            /// The time limit of the wake; set on delivery.
            var deadline: Duration?
        }

        var entries: [OpenWake] = []

        var firstUndeliveredIndex: Int? { entries.firstIndex { $0.deadline == nil } }
        var latestDeadline: Duration? { entries.compactMap(\.deadline).max() }
        var earliestDeadline: Duration? { entries.compactMap(\.deadline).min() }
    }

    /// The progress of a suspension.
    struct SuspensionState: Sendable, Hashable {
        /// The time since which no task was open.
        var idleSince: Duration?
        /// Requested by job control, as by Ctrl-Z: without waiting for the idle interval.
        var isRequested = false
        /// The time at which an unconfirmed freeze has failed.
        var freezeDeadline: Duration?
        /// The time of the next attempt after a failed freeze.
        var retryTime: Duration?
        /// The time of the last suspension with contended locks.
        var lastLockWarning: Duration?
    }

    /// The progress of a termination.
    struct TerminationState: Sendable, Hashable {
        struct KilledProcess: Sendable, Hashable {
            let reason: KillReason
            let wasLaunching: Bool
            let openTasks: Int
        }

        /// The time at which open tasks expire.
        var graceDeadline: Duration?
        /// The time of the next extension of the service manager's timeout.
        var nextExtension: Duration?
        /// The time at which the process must have exited after `willTerminate`.
        var exitDeadline: Duration?
        /// The process that the host is killing, until it has exited.
        var killedProcess: KilledProcess?
    }

    /// The progress of a sleep of the machine.
    struct SleepState: Sendable, Hashable {
        /// The time at which open tasks expire.
        let expirationTime: Duration
        /// The time at which the machine may sleep in any case.
        let releaseTime: Duration
        var isReleased = false
    }

    /// A launch that was requested while the previous process was ending.
    struct WaitingLaunch: Sendable, Hashable {
        /// The reason for a launch that the user sees.
        var reason: LaunchReason?
        /// The reason for one that shows nothing.
        var backgroundReason: LaunchReason?
        var urls: [IncomingURL] = []
        var wakes: [OpenWakes.OpenWake] = []

        var isEmpty: Bool { reason == nil && backgroundReason == nil && wakes.isEmpty }

        /// Adds a launch; the first reason that is not merely the user's choice is kept.
        mutating func add(_ next: LaunchReason) { if reason == nil || reason == .user { reason = next } }

        mutating func addBackgroundLaunch(for next: LaunchReason) { backgroundReason = backgroundReason ?? next }
    }
}
