/// What the host of a ``Lifecycle`` has to do, in the order given.
package enum LifecycleEffect: Sendable, Hashable {
    /// Start the process.
    case spawnProcess
    /// Do not start or wake it; the reason can be asked for.
    case refuse(Refusal)
    /// Tell the application; it must acknowledge before the deadline.
    case deliver(LifecycleCallback, deadline: Duration)
    /// Set the gate for new tasks, and the moment at which background time ends.
    case setTaskPhase(TaskPhase, deadline: Duration?)
    /// Call all expiration handlers together; what is open at the deadline is killed.
    case expireTasks(deadline: Duration)
    /// Stop every thread, then report `frozen`.
    case freezeProcess
    /// Let it run again, or give up a freeze.
    case thawProcess
    /// The suspension stands: last in the kernel's order of who survives.
    case commitSuspension
    /// Hand over the notices that were held back, before any other callback.
    case deliverNotices
    case saveArchive, deleteArchive
    case deliverMemoryWarning(level: Int)
    /// Locks were held at suspension; next time it is fatal.
    case warnAboutLocks
    /// It could not be frozen: slow it down and report it.
    case throttleProcess
    /// A wake ended without completion: count it against the application.
    case penalizeWake(WakeReason)
    case cancelTransfers
    /// Tell the service manager that the stop goes on for so long.
    case extendStopTimeout(by: Duration)
    /// The machine may sleep now.
    case releaseSleepInhibitor
    /// Hold off the next sleep again.
    case acquireSleepInhibitor
    /// All is done: the process may exit.
    case exitProcess
    case killProcess(KillReason)
    case reportExit(ExitReport)

    package enum Refusal: Sendable, Hashable {
        case forceQuit, undeclaredMode, allowanceExhausted, repeatedLaunchCrashes, terminating
    }
}

/// Why a process was killed, with the code under which the platform of the founding documents reported it.
package enum KillReason: Sendable, Hashable {
    /// A callback took longer than it may.
    case watchdog(LifecycleCallback)
    /// Tasks were open after their expiry.
    case backgroundTask
    /// A session's events were not completed in time.
    case session
    /// Another wake was not completed in time.
    case wake
    /// Locks that others wait for were held at suspension, twice.
    case lockHeld
    /// Memory was short.
    case memory
    /// The user ended it.
    case userForceQuit
    /// It was to end while suspended.
    case terminatedWhileSuspended

    /// The number by which reports name the reason; 0 where there is none.
    package var code: UInt32 {
        switch self {
        case .watchdog: 0x8bad_f00d
        case .backgroundTask: 0x2182_bad2
        case .session: 0x2182_bad3
        case .wake: 0x2182_bad4
        case .lockHeld: 0xdead_10cc
        case .memory, .userForceQuit, .terminatedWhileSuspended: 0
        }
    }
}

/// How a life ended.
package struct ExitReport: Sendable, Hashable {
    package let status: Int32
    /// What the host killed it for; `nil` where it went by itself.
    package let killReason: KillReason?
    /// Whether it went before its launch was over.
    package let wasLaunching: Bool
    /// Tasks that were open.
    package let openTasks: Int

    package init(status: Int32, killReason: KillReason?, wasLaunching: Bool, openTasks: Int) {
        (self.status, self.killReason) = (status, killReason)
        (self.wasLaunching, self.openTasks) = (wasLaunching, openTasks)
    }
}
