package import EideticLifecycle
package import EideticSupervision

/// The process of an earlier supervisor, until it connects, and the requests that wait for that.
package struct Adoption: ApplicationComponent {
    /// The treatment of a request.
    package enum Admission: Hashable { case handled, waits, refused(LifecycleEffect.Refusal), tooMany }

    private static let requestLimit = 64

    /// The time in which the process is expected to connect.
    private let limit: Duration
    /// The time that an application has to terminate.
    private let gracePeriod: Duration
    /// The record of the process, until it connects.
    package var record: ApplicationRecord.ProcessRecord?
    /// The end of the time in which it is expected to connect.
    package private(set) var deadline: Duration?
    /// The requests that wait for it.
    package private(set) var requests: [LifecycleEvent] = []

    /// The record of a process that cannot be taken over, until all applications are restored.
    package var lost: ApplicationRecord.ProcessRecord?

    /// Creates the component, with the time in which the process connects, and the time that it has to terminate.
    package init(limit: Duration, gracePeriod: Duration) {
        self.limit = limit
        self.gracePeriod = gracePeriod
    }

    /// The state of the application; that of the record while the process has not connected, and *terminating* until a
    /// killed process has ended.
    package func state(in view: ApplicationView) -> LifecycleState {
        guard let record else {
            return view.lifecycle.state == .notRunning && view.process != nil ? .terminating : view.lifecycle.state
        }
        if record.intention.isTerminating { return .terminating }
        switch record.state {
        case .active: return .active
        case .inactive: return .inactive
        case .background, .suspended: return .background
        case nil: return record.isBackgroundLaunch ? .launchingInBackground : .launching
        }
    }

    /// Expects the process of a record to connect.
    package mutating func expect(_ record: ApplicationRecord.ProcessRecord, at now: Duration) {
        self.record = record
        deadline = now + limit
    }

    /// Takes over the process that has connected, in the state that it reports; `nil` if it was not launched yet.
    ///
    /// The application knows best; the record knows what was on its way.
    package mutating func connect(
        running: Hello.RunningState?,
        presentation: PresentationMessage?,
        in view: ApplicationView
    ) -> [ApplicationEffect] {
        guard let record, let process = view.process else { return [] }
        end()
        let isBackground = running == nil && record.isBackgroundLaunch
        let intention = record.intention
        let presentation = running == nil ? nil : presentation
        let resumption = resumption(
            of: intention,
            presentation: presentation,
            launchesInBackground: isBackground,
            in: view
        )
        guard let running else {
            return [.takeUnlaunched(inBackground: isBackground)] + resumption + [.handleWaitingRequests]
        }
        // Only a supervisor makes it.
        let made: Set<ContinuousAssertion> = record.assertions.contains(.continued) ? [] : [.continued]
        let adopted = AdoptedProcess(
            running.state == .suspended ? .background : running.state,
            openTasks: process.openTasks,
            wakes: running.wakes,
            assertions: running.assertions.subtracting(made)
        )
        let line = "adopted: \(running.state), process \(process.number)"
        return [.log(line), .take(adopted)] + resumption + [.handleWaitingRequests]
    }

    /// Returns the requests that the earlier supervisor has accepted; a presentation that has changed since is newer
    /// than they are.
    package func resumption(
        of intention: ApplicationRecord.Intention,
        presentation: PresentationMessage? = nil,
        launchesInBackground: Bool = false,
        in view: ApplicationView
    ) -> [ApplicationEffect] {
        var effects: [ApplicationEffect] = []
        // First, or the application would become active on its way to the end.
        if intention.isTerminating {
            // What is left of the time that the earlier supervisor has granted.
            let rest = intention.graceEnd.map { min(max(.zero, $0 - view.now), gracePeriod) }
            effects = [.expectTermination, .handle(.terminate(grace: rest ?? gracePeriod))]
        }
        let changed = presentation.flatMap { $0 == intention.presentation ? nil : $0 }
        let isVisible = changed?.isVisible ?? intention.isVisible
        if isVisible || !launchesInBackground {
            effects.append(.handle(isVisible ? .show : .enterBackground))
            effects.append(.handle(changed?.isFocused ?? intention.isFocused ? .activate : .deactivate))
        }
        return effects + intention.urls.map { .reopen($0) } + intention.wakes.map { .rewake($0) }
    }

    /// Expects nothing any more.
    package mutating func end() {
        record = nil
        deadline = nil
    }

    /// Returns what becomes of a request, which is kept if it waits.
    package mutating func admit(_ event: LifecycleEvent) -> Admission {
        guard record != nil else { return .handled }
        guard deadline != nil else { return .refused(.notConnected) }
        guard requests.count < Self.requestLimit else { return .tooMany }
        requests.append(event)
        return .waits
    }

    /// Keeps requests, however many there are.
    package mutating func keep(_ events: [LifecycleEvent]) { requests += events }

    /// Replaces the requests with those of a record.
    package mutating func restore(_ events: [LifecycleEvent]) { requests = events }

    /// Takes the request that has waited for longest; each stays in the record until it is handled, for a supervisor
    /// that follows if this one is killed meanwhile.
    package mutating func next() -> LifecycleEvent? { requests.isEmpty ? nil : requests.removeFirst() }

    /// Forgets what was requested, as the user ends the application.
    package mutating func drop() {
        requests = []
        record?.intention = ApplicationRecord.Intention()
    }

    /// Leaves a process alone that has not connected in time: it continues without a supervisor, and may still connect.
    package mutating func handle(_ change: ApplicationChange, in view: ApplicationView) -> [ApplicationEffect] {
        guard change == .deadline else { return [] }
        deadline = nil
        guard let process = view.process else { return [] }
        return [
            .log("process \(process.number) has not connected, and continues without supervision"),
            .refuseWaitingRequests(.notConnected),
        ]
    }
}
