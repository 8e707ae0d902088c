/// An input of the state machine.
package enum LifecycleEvent: Sendable, Hashable {
    // From the user or a window system.
    case launch(LaunchReason)
    /// The application has received or lost the user's input.
    case activate, deactivate
    /// The application was shown or hidden; its input does not change.
    case show, enterBackground
    /// The user chose the application: it is shown, and receives input.
    case enterForeground
    /// The screen was locked or unlocked.
    case lock, unlock
    case openURL(String)
    case forceQuit

    // From the application.
    case callbackAcknowledged(LifecycleCallback)
    /// The number of open background tasks changed to this value.
    case openTaskCountChanged(Int)
    case wakeCompleted(UInt64)

    // From the system.
    /// A reason to run in the background; `allowance` is the remaining time of the application's quota.
    case wake(WakeReason, allowance: Duration)
    /// The background time ends now.
    case backgroundTimeRevoked
    /// The machine is about to sleep, after at most this time.
    case systemWillSleep(within: Duration)
    /// The machine woke up.
    case systemDidWake
    case memoryWarning(level: Int)
    /// Memory is so short that the application must end.
    case memoryExhausted
    /// Job control stops the process: it is frozen when its tasks have ended, after at most this time.
    case suspend(within: Duration)
    /// Job control continues the process, in the background or as the job that the user sees.
    case resumeInBackground, resumeInForeground
    /// Termination was requested, with this time for open tasks. A second request expires them immediately.
    case terminate(grace: Duration)

    // From the host.
    /// Every thread of the process is stopped.
    case processFrozen(openTasks: Int, blocksOthers: Bool)
    /// The process has ended.
    case processExited(status: Int32)
    /// A new supervisor found the process in this state.
    case processAdopted(AdoptedState, openTasks: Int)
    /// The deadline of `nextDeadline` was reached.
    case deadlineReached

    package enum AdoptedState: Sendable, Hashable { case foreground, background, suspended }
}
