/// An input of the state machine.
package enum LifecycleEvent: Sendable, Hashable {
    // From the user or a window system.
    case launch(LaunchReason)
    /// A launch that shows nothing.
    case launchInBackground(LaunchReason)
    /// A shell started the process as a job in the background of its terminal; `resumeInForeground` follows `fg`.
    case launchBackgroundJob
    /// The application has received or lost the user's input.
    case activate, deactivate
    /// The application was shown or hidden; its input does not change.
    case show, enterBackground
    /// The user chose the application: it is shown, and receives input.
    case enterForeground
    case lock, unlock
    case openURL(IncomingURL)
    case forceQuit

    // From the application.
    case callbackAcknowledged(LifecycleCallback, process: ProcessIdentity)
    /// The number of open background tasks changed to this value.
    case openTaskCountChanged(Int, process: ProcessIdentity)
    case wakeCompleted(UInt64, WakeResult, process: ProcessIdentity)
    /// The application has answered the request to open the URL with this identifier.
    case urlAnswered(UInt64, isHandled: Bool, process: ProcessIdentity)
    case assertionChanged(ContinuousAssertion, isHeld: Bool, process: ProcessIdentity)

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
    case processFrozen(ProcessIdentity, openTasks: Int, blocksOthers: Bool)
    /// The program could not be started: no process has run, so nothing has crashed.
    case processDidNotStart(ProcessIdentity)
    case processExited(ProcessIdentity, status: Int32)
    /// The process that runs has connected, after the host had acknowledged its callbacks as one that knows none: it is
    /// launched in the state in which it is.
    case processIntroduced(ProcessIdentity)
    /// A process that the host did not start has connected; it is launched without being spawned.
    case processConnected(inBackground: Bool)
    /// A new supervisor takes over a process that was launched by an earlier one.
    case processAdopted(AdoptedProcess)
    /// The deadline of `nextDeadline` was reached.
    case deadlineReached

    /// The process that the event comes from; `nil` for events from elsewhere.
    var process: ProcessIdentity? {
        switch self {
        case .callbackAcknowledged(_, let process), .openTaskCountChanged(_, let process),
            .wakeCompleted(_, _, let process), .urlAnswered(_, _, let process), .assertionChanged(_, _, let process),
            .processFrozen(let process, _, _), .processExited(let process, _), .processDidNotStart(let process),
            .processIntroduced(let process):
            process
        default: nil
        }
    }
}
