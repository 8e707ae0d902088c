/// The reason for killing a process, with the code that iOS reports for it.
package enum KillReason: Sendable, Hashable {
    /// A callback exceeded its time limit.
    case watchdog(LifecycleCallback)
    /// Background tasks were open after their expiration.
    case backgroundTask
    /// The events of a background session were not completed in time.
    case session
    /// A wake of another kind was not completed in time.
    case wake
    /// The process held a contended file lock at suspension, twice.
    case lockHeld
    case memory
    /// The user ended the application.
    case userForceQuit
    /// Termination was requested while the process was suspended.
    case terminatedWhileSuspended

    /// A Boolean value indicating whether a limit has passed, which means nothing while a debugger holds the process.
    package var isLimit: Bool {
        switch self {
        case .watchdog, .backgroundTask, .session, .wake: true
        case .lockHeld, .memory, .userForceQuit, .terminatedWhileSuspended: false
        }
    }

    /// A Boolean value indicating whether the application is told at its next launch; the user knows the other reasons.
    package var isToldAtNextLaunch: Bool { self != .userForceQuit && self != .terminatedWhileSuspended }

    /// The code that identifies the reason in reports; 0 if there is none.
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
