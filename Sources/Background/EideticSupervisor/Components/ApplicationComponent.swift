package import EideticLifecycle
package import EideticSupervision

/// A change of which components learn.
package enum ApplicationChange: Sendable, Hashable {
    /// The state machine has handled events, and all of their effects were performed.
    case settled
    /// The deadline of the component has passed.
    case deadline
    /// Another process is the current one, or none is.
    case processChanged
}

/// A request of a component to its application, which alone touches the process and the state machine.
package enum ApplicationEffect {
    case handle(LifecycleEvent)
    /// Acknowledges a callback for a process that does not know it.
    case acknowledge(LifecycleCallback)
    /// Passes a request to the state machine, or keeps it until the process of an earlier supervisor has connected.
    case request(LifecycleEvent)
    case send(SupervisorMessage)
    case log(String)
    /// Calls a function that waits for an answer, with the reason of a failure.
    case answer((_ failure: String?) -> Void, failure: String?)
    /// Tells those who wait for a change that no line of the log tells.
    case reportChange
    /// Reduces the priority of the processes, and reports why.
    case slowDown(report: String)
    case restorePriority
    /// Kills the process, unless it is being killed.
    case kill(KillReason)
    /// Records why the process ends, for the next launch.
    case explainEnd(String)
    /// Wakes the application, or launches it.
    case wake(WakeReason.Kind, session: String, payload: [UInt8])
    /// Watches the machine for conditions of processing, or ends that.
    case watchConditions(Bool)
    case forgiveWakeCrashes
    /// Writes the record of wakes before what follows.
    case saveWakes
    /// Records why the application does not do what it was asked to.
    case recordObstacle(String)
    /// Refuses a request, and records why.
    case refuse(because: String)
    case desktop(DesktopRequest)
    /// Shows the progress of work on the screen, whose server answers later.
    case showProgress(of: ContinuedWork, named: String)
    case withdrawProgress(UInt32, work: String)
    /// Makes the transfer process announce a session again later, whose wake has failed.
    case reportSessionFailure(String)
    /// Tells the transfer process whether it holds the events of the application.
    case updateTransferHold
    /// Lets a suspended application run, until ``endBriefThaw``.
    case thawBriefly
    case endBriefThaw
    /// Watches the connections by which others reach the suspended application.
    case watchCallers
    /// Looks at a freeze again.
    case resumeFreeze
    /// Asks the application for a report when its last task has ended.
    case requestIdleReport
    /// Makes a process of an earlier supervisor known to the state machine, in its state.
    case take(AdoptedProcess)
    /// Makes a process of an earlier supervisor known to the state machine that was not launched.
    case takeUnlaunched(inBackground: Bool)
    /// Expects the application to repeat its request to terminate.
    case expectTermination
    /// Asks the application again to open a URL that an earlier supervisor has accepted.
    case reopen(ApplicationRecord.URLRecord)
    /// Wakes the application again for what an earlier supervisor has accepted, unless it has received it.
    case rewake(ApplicationRecord.WakeRecord)
    /// Handles the requests that have waited for the process of an earlier supervisor.
    case handleWaitingRequests
    case refuseWaitingRequests(LifecycleEffect.Refusal)
    /// Forgets the application.
    case forget
}

/// A request of an application to the services of the desktop.
package enum DesktopRequest: Sendable, Hashable {
    /// Removes notifications from the screen; all without identifiers.
    case withdrawNotifications(Set<String>?)
    case setBadge(UInt32)
    case registerForMessages, unregisterFromMessages
    /// Follows the location while an application wants that.
    case updateLocation
}

/// One concern of a supervised application: it is told what happened, and returns what is to be done.
///
/// A component owns its state and its one deadline, and is tested without a process.
package protocol ApplicationComponent {
    /// The time at which the component is told of ``ApplicationChange/deadline``; `nil` if only an event can change
    /// anything.
    var deadline: Duration? { get }

    /// Returns what is to be done after a change.
    ///
    /// A deadline that has passed must be another one afterwards.
    mutating func handle(_ change: ApplicationChange, in view: ApplicationView) -> [ApplicationEffect]
}
