// The facts that a supervisor records for its successor, and reports to users.
extension Lifecycle {
    /// The state in which another supervisor would find the process; `nil` before its launch, or without one.
    package var adoptableState: AdoptedProcess.State? {
        switch currentState {
        case .notRunning, .launching: nil
        case .active: .active
        case .inactive: .inactive
        case .background, .suspending: .background
        case .suspended: .suspended
        }
    }

    /// Returns whether the end of a process concerns this state, as it runs or is being killed.
    package func expectsExit(of process: ProcessIdentity) -> Bool {
        process == self.process && (isRunning || termination.killedProcess != nil)
    }

    /// The wakes that the process has not completed.
    package var openWakes: [WakeReason] { wakes.entries.map(\.reason) }

    /// A wake that was accepted and is not completed.
    package struct AcceptedWake: Sendable, Hashable {
        package let reason: WakeReason
        package let allowance: Duration
        package let isDelivered: Bool
    }

    /// The wakes that the process has not completed, delivered or not.
    package var acceptedWakes: [AcceptedWake] {
        wakes.entries.map { AcceptedWake(reason: $0.reason, allowance: $0.allowance, isDelivered: $0.deadline != nil) }
    }

    /// The wakes for which another process is launched when the current one has ended.
    package var waitingWakes: [AcceptedWake] {
        waiting.wakes.map { AcceptedWake(reason: $0.reason, allowance: $0.allowance, isDelivered: false) }
    }

    /// The URLs for which another process is launched when the current one has ended.
    package var waitingLaunchURLs: [IncomingURL] { waiting.urls }

    /// A Boolean value indicating whether the launch that waits for the end of the process shows the application; `nil`
    /// if none waits, except for a wake.
    package var isWaitingLaunchVisible: Bool? {
        waiting.reason != nil ? true : waiting.backgroundReason != nil ? false : nil
    }

    /// The time at which the open tasks of a terminating application expire; `nil` if it does not terminate.
    package var terminationGraceEnd: Duration? { isTerminating ? termination.graceDeadline : nil }

    /// A Boolean value indicating whether the events of background sessions wait: the application is suspended, or does
    /// not know yet for which session it was woken.
    package var holdsSessionEvents: Bool {
        if reachedState == .suspended { return true }
        if case .wake(let reason)? = unacknowledgedCallback, reason.kind == .session { return true }
        return wakes.entries.contains { $0.reason.kind == .session && $0.deadline == nil }
    }

    /// A Boolean value indicating whether the application is to be visible.
    package var isRequestedVisible: Bool { facts.isVisible }

    /// A Boolean value indicating whether the application is to receive the user's input.
    package var isRequestedFocused: Bool { facts.hasFocus }

    /// The URLs that the application has not answered.
    package var waitingURLs: [IncomingURL] { urls.filter { $0.id != answeredURL } }

    /// The continuous assertions that the process holds.
    package var heldAssertions: Set<ContinuousAssertion> { assertions }

    /// The end of background time; `nil` if none runs or it has no limit.
    package var backgroundTimeEnd: Duration? { isBudgetRunning ? backgroundDeadline : nil }

    /// A Boolean value indicating whether background time has expired.
    package var isBackgroundTimeExpired: Bool { budget.isExpired }

    /// The time of the next attempt to freeze, after one that failed.
    package var freezeRetryTime: Duration? { suspension.retryTime }

    /// The time at which tasks that are still open cost the process its life; `nil` if none does.
    package var expirationEnd: Duration? { budget.killDeadline }

    /// A Boolean value indicating whether the application is about to be in the foreground, or is there.
    package var isHeadingForForeground: Bool {
        switch targetState {
        case .active, .inactive: isRunning
        case .background, .terminated: false
        }
    }
}
