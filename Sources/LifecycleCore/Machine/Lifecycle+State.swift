extension Lifecycle {
    /// Background time: what is left of it, and when it ends while it runs.
    struct Budget: Sendable, Hashable {
        var left: Duration
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
    struct Wakes: Sendable, Hashable {
        struct Open: Sendable, Hashable {
            let reason: WakeReason
            let allowance: Duration
            /// Set when it was handed over.
            var deadline: Duration?
        }

        var open: [Open] = []

        var undelivered: Int? { open.firstIndex { $0.deadline == nil } }
        var lastDeadline: Duration? { open.compactMap(\.deadline).max() }
        var firstDeadline: Duration? { open.compactMap(\.deadline).min() }
    }

    /// What is known on the way to being frozen.
    struct SuspensionState: Sendable, Hashable {
        /// Since when nothing has been open.
        var quietSince: Duration?
        /// Asked for, as by Ctrl-Z: no quiet time.
        var isRequested = false
        /// The freeze under way must be verified by then.
        var freezeDeadline: Duration?
        /// After a freeze that failed, not before this moment.
        var retryAt: Duration?
        /// When locks that block others were found last.
        var lockWarning: Duration?
    }

    /// What is known on the way out.
    struct EndingState: Sendable, Hashable {
        struct Killed: Sendable, Hashable {
            let reason: KillReason
            let duringLaunch: Bool
            let openTasks: Int
        }

        /// Open tasks have until then.
        var graceDeadline: Duration?
        /// The next word to the service manager.
        var extendAt: Duration?
        /// `willTerminate` was acknowledged; the process is to be gone by then.
        var exitDeadline: Duration?
        /// What the host was told to kill it for, until it is gone.
        var killed: Killed?
    }

    /// The machine is about to sleep, or asleep.
    struct SleepState: Sendable, Hashable {
        /// Where the application goes back to.
        var goal: Goal
        /// What is open is expired then.
        let expireAt: Duration
        /// Sleep is held off no longer than until then.
        let releaseAt: Duration
        var isReleased = false
    }
}
