/// What can happen to an application.
package enum LifecycleEvent: Sendable, Hashable {
    // From the user, or what stands for the user.
    case launch(LaunchReason)
    case activate, deactivate, enterBackground, enterForeground
    case openURL(String)
    case forceQuit

    // From the application.
    case callbackAcknowledged(LifecycleCallback)
    /// The number of open background tasks is now this.
    case openTaskCountChanged(Int)
    case wakeCompleted(UInt64)

    // From the system.
    /// A reason to run unseen; `allowance` is what the application's share of such time still holds.
    case wake(WakeReason, allowance: Duration)
    /// The background budget ends now.
    case backgroundTimeRevoked
    /// The machine is about to sleep, at the latest after this time.
    case systemWillSleep(within: Duration)
    /// It is awake again.
    case systemDidWake
    case memoryWarning(level: Int)
    /// Memory is so short that this application has to go.
    case memoryExhausted
    /// To be stopped as a job of a shell is: frozen when its tasks are done, at the latest after this time.
    case suspend(within: Duration)
    /// A stopped job goes on, unseen.
    case resumeInBackground
    /// To end, with so much time for open tasks. A second request expires them at once.
    case terminate(grace: Duration)

    // From the host.
    /// Every thread is stopped; what was seen then.
    case processFrozen(openTasks: Int, blocksOthers: Bool)
    /// The process is gone.
    case processExited(status: Int32)
    /// A new supervisor found it like this.
    case processAdopted(AdoptedState, openTasks: Int)
    /// A deadline has come.
    case deadlineReached

    package enum AdoptedState: Sendable, Hashable { case foreground, background, suspended }
}
