extension Lifecycle {
    /// Background time: what is left of it, and when it ends while it runs.
    struct Budget: Sendable, Hashable {
        var remaining: Duration
        /// Set while it runs, in the background.
        var deadline: Duration?
        /// When the application last came to the foreground; `nil` before its first stay in the background.
        var foregroundSince: Duration?
        /// What is open at this moment is killed; set when handlers are called, `nil` again when all tasks ended.
        var killDeadline: Duration?
        /// Time is up: nothing new begins until it is seen, or woken, again.
        var isExpired = false
        /// The wake whose missing completion led to the expiry.
        var overdueWake: WakeReason?
    }

    /// Wakes of this life that are not completed.
    struct OpenWakes: Sendable, Hashable {
        struct OpenWake: Sendable, Hashable {
            let reason: WakeReason
            let allowance: Duration
            /// Set when it was handed over.
            var deadline: Duration?
        }

        var entries: [OpenWake] = []

        var firstUndeliveredIndex: Int? { entries.firstIndex { $0.deadline == nil } }
        var latestDeadline: Duration? { entries.compactMap(\.deadline).max() }
        var earliestDeadline: Duration? { entries.compactMap(\.deadline).min() }
    }

    /// What is known on the way to being frozen.
    struct SuspensionState: Sendable, Hashable {
        /// Since when nothing has been open.
        var idleSince: Duration?
        /// Asked for, as by Ctrl-Z: no quiet time.
        var isRequested = false
        /// The freeze under way must be verified by then.
        var freezeDeadline: Duration?
        /// After a freeze that failed, not before this moment.
        var retryTime: Duration?
        /// When locks that block others were found last.
        var lastLockWarning: Duration?
    }

    /// What is known on the way out.
    struct TerminationState: Sendable, Hashable {
        struct KilledProcess: Sendable, Hashable {
            let reason: KillReason
            let wasLaunching: Bool
            let openTasks: Int
        }

        /// Open tasks have until then.
        var graceDeadline: Duration?
        /// The next word to the service manager.
        var nextExtension: Duration?
        /// `willTerminate` was acknowledged; the process is to be gone by then.
        var exitDeadline: Duration?
        /// What the host was told to kill it for, until it is gone.
        var killedProcess: KilledProcess?
    }

    /// The machine is about to sleep, or asleep.
    struct SleepState: Sendable, Hashable {
        /// Where the application goes back to.
        var targetState: TargetState
        /// What is open is expired then.
        let expirationTime: Duration
        /// Sleep is held off no longer than until then.
        let releaseTime: Duration
        var isReleased = false
    }
}
