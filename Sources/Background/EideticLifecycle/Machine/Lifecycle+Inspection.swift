// The facts that a supervisor records for its successor, and reports to users.
extension Lifecycle {
    /// The state in which another supervisor would find the process; `nil` before its launch, or without one.
    package var adoptableState: AdoptedProcess.State? { currentState.adoptable }

    /// Returns whether the end of a process concerns this state, as it runs or is being killed.
    package func expectsExit(of process: ProcessIdentity) -> Bool {
        process == self.process && (isRunning || termination.killedProcess != nil)
    }

    /// The wakes that the process has not completed.
    package var openWakes: [WakeReason] { stay.wakes.entries.map(\.reason) }

    /// The wakes that the process has not completed, delivered or not.
    package var acceptedWakes: [OpenWake] { stay.wakes.entries }

    /// A Boolean value indicating whether the events of background sessions wait: the application is suspended, or does
    /// not know yet for which session it was woken.
    package var holdsSessionEvents: Bool {
        if reachedState == .suspended { return true }
        if case .wake(let reason)? = unacknowledgedCallback, reason.kind == .session { return true }
        return stay.wakes.entries.contains { $0.reason.kind == .session && !$0.isDelivered }
    }

    /// The URLs that the application has not answered.
    package var waitingURLs: [IncomingURL] { urls.unanswered }

    /// The end of background time; `nil` if none runs or it has no limit.
    package var backgroundTimeEnd: Duration? { isBudgetRunning ? stay.end : nil }

    /// A Boolean value indicating whether the application is about to be in the foreground, or is there.
    package var isHeadingForForeground: Bool {
        switch targetState {
        case .active, .inactive: isRunning
        case .background, .terminated: false
        }
    }
}
