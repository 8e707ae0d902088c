/// An action that the host of a ``Lifecycle`` performs, in the order of the effects.
package enum LifecycleEffect: Sendable, Hashable {
    /// Starts a process, to which later events refer by this identity.
    case spawnProcess(ProcessIdentity)
    /// Does not start or wake the application, or does not accept its request, for this reason.
    case refuse(Refusal)
    /// Calls back into the application, which must acknowledge before the deadline.
    case deliver(LifecycleCallback, deadline: Duration)
    /// Sets the phase that governs new background tasks, and the end of background time.
    case setTaskPhase(TaskPhase, deadline: Duration?)
    /// Calls all expiration handlers; the process is killed if tasks are open at the deadline.
    case expireTasks(deadline: Duration)
    /// Stops every thread, then reports `processFrozen`.
    case freezeProcess
    /// Lets the process run again, or cancels a freeze.
    case thawProcess
    /// Makes the suspension final: the process is the first candidate for the kernel's memory killer.
    case commitSuspension
    /// Delivers the notices that were held during suspension, before any other callback; a frozen process finds them
    /// when it continues.
    case deliverNotices
    case saveArchive, deleteArchive
    case deliverMemoryWarning(level: Int)
    /// Warns that the process held file locks at suspension; the next violation is fatal.
    case warnAboutLocks
    /// Reduces the processor time of a process that could not be frozen, and reports it.
    case throttleProcess
    /// Charges a wake that was not completed to the application.
    case penalizeWake(WakeReason)
    /// Reports the result of an accepted wake, once.
    case reportWake(WakeReason, WakeResult)
    /// Reports the outcome of a request to open a URL, once.
    case reportURL(IncomingURL, IncomingURL.Outcome)
    case cancelTransfers
    /// Extends the service manager's stop timeout by this duration.
    case extendStopTimeout(by: Duration)
    case releaseSleepInhibitor
    /// Delays the next sleep of the machine.
    case acquireSleepInhibitor
    /// Ends the process with success.
    case exitProcess
    case killProcess(KillReason)
    case reportExit(ExitReport)

    package enum Refusal: UInt8, Sendable, Hashable, CaseIterable {
        case forceQuit, undeclaredMode, allowanceExhausted, repeatedLaunchCrashes, terminating
        /// Another process of the application is running.
        case alreadyRunning
        /// The process ended before it was asked.
        case processEnded
        case tooManyRequests
        /// The process was started by an earlier supervisor, and has not connected to this one.
        case notConnected
        /// The application has crashed during the last wakes of this kind.
        case repeatedWakeCrashes
    }
}
