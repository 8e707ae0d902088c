/// What can happen to an application.
package enum LifecycleEvent: Sendable, Hashable {
    // From the user, or what stands for the user.
    case launch(LaunchReason)
    case activate, deactivate, enterBackground, enterForeground
    case openURL(String)
    case forceQuit

    // From the application.
    case acknowledged(Callback)
    /// The number of open background tasks is now this.
    case tasks(Int)
    case wakeCompleted(UInt64)

    // From the system.
    /// A reason to run unseen; `allowance` is what the application's share of such time still holds.
    case wake(WakeReason, allowance: Duration)
    /// The background budget ends now.
    case callIn
    /// The machine is about to sleep, at the latest after this time.
    case sleepAnnounced(within: Duration)
    /// It is awake again.
    case awoke
    case memoryWarning(level: Int)
    /// Memory is so short that this application has to go.
    case jettison
    /// To be stopped as a job of a shell is: frozen when its tasks are done, at the latest after this time.
    case suspend(within: Duration)
    /// A stopped job goes on, unseen.
    case continueInBackground
    /// To end, with so much time for open tasks. A second request expires them at once.
    case terminate(grace: Duration)

    // From the host.
    /// Every thread is stopped; what was seen then.
    case frozen(openTasks: Int, blocksOthers: Bool)
    /// The process is gone.
    case exited(status: Int32)
    /// A new supervisor found it like this.
    case adopted(Adopted, openTasks: Int)
    /// A deadline has come.
    case timer

    package enum Adopted: Sendable, Hashable { case foreground, background, suspended }
}
