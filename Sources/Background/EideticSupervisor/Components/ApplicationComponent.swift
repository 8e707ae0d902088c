package import EideticLifecycle
package import EideticSupervision

/// A change of which components learn.
package enum ApplicationChange: Sendable, Hashable {
    /// The state machine has handled events, and all of their effects were performed.
    case settled
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
    /// Kills the process, unless it is being killed.
    case kill(KillReason)
    /// Wakes the application, or launches it.
    case wake(WakeReason.Kind, session: String, payload: [UInt8])
    /// Watches the machine for conditions of processing, or ends that.
    case watchConditions(Bool)
    case forgiveWakeCrashes
    /// Writes the record of wakes before what follows.
    case saveWakes
    /// Finds the watchdog of a process that does not connect.
    case findWatchdog
    /// Records why the application does not do what it was asked to.
    case recordObstacle(String)
    /// Refuses a request, and records why.
    case refuse(because: String)
    case process(ProcessRequest)
    case desktop(DesktopRequest)
    /// Makes the transfer process announce a session again later, whose wake has failed.
    case reportSessionFailure(String)
    /// Tells the transfer process whether it holds the events of the application.
    case updateTransferHold
    case endBriefThaw
    /// Watches the connections by which others reach the suspended application.
    case watchCallers
    case resumeFreeze
    /// Asks the application for a report when its last task has ended.
    case requestIdleReport
    /// Passes the event that makes the process known to the state machine.
    case introduce(LifecycleEvent)
    /// Performs what the record shows as a whole, or not at all: a successor finds the earlier one until the end.
    case recordOnce([ApplicationEffect])
    /// Tells the application of a suspension that is over.
    case deliverNotices
    /// Freezes the process of an earlier supervisor again.
    case freezeAgain
    /// Watches the terminal of a suspended process, and the connections by which others reach it.
    case watchSuspended
    /// Asks the application again to open a URL that an earlier supervisor has accepted.
    case reopen(ApplicationRecord.URLRecord)
    /// Wakes the application for what an earlier supervisor has accepted, unless it has received it.
    case rewake(OpenWake)
    /// Handles the requests that have waited for the process of an earlier supervisor.
    case handleWaitingRequests
    /// Refuses a request that waited, and tells its sender.
    case reject(LifecycleEvent, because: LifecycleEffect.Refusal)
    case saveRecord
    /// Terminates the application, which has asked for that.
    case terminate
    /// Continues a suspended application that does more than answer its display or bus.
    case continueInBackground
    /// Believes that the application holds an assertion, as far as it must be believed.
    case claim(ContinuousAssertion, isHeld: Bool)
    case forget
}

/// A request of a component to the process of its application, if there is one.
package enum ProcessRequest {
    case restorePriority
    /// Records why it ends, for the next launch.
    case explainEnd(String)
    /// Lets a suspended application run, until ``ApplicationEffect/endBriefThaw``.
    case thawBriefly
    /// Lets it run, which learns of its suspension later.
    case thaw
    /// Continues it, which was not suspended after all.
    case cancelSuspension
    /// Kills what an earlier supervisor was killing.
    case killAgain
    /// Expects it to repeat its request to terminate.
    case expectTermination
}

/// A request of an application to the services of the desktop.
package enum DesktopRequest {
    /// Shows the progress of work on the screen, whose server answers later.
    case showProgress(of: ContinuedWork, named: String)
    case withdrawProgress(UInt32, work: String)
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
