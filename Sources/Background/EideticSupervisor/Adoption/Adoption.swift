package import EideticLifecycle
package import EideticSupervision

/// The process of an earlier supervisor, until it connects, and the requests that wait for that.
package struct Adoption: ApplicationComponent {
    private static let requestLimit = 64

    /// The time in which the process is expected to connect.
    private let limit: Duration
    /// The time that an application has to terminate.
    private let gracePeriod: Duration
    /// The record of the process, until it connects.
    package var record: ApplicationRecord.ProcessRecord?
    /// The end of the time in which it is expected to connect.
    package private(set) var deadline: Duration?
    package private(set) var requests: [LifecycleEvent] = []

    /// The record of a process that cannot be taken over, until all applications are restored.
    private var lost: ApplicationRecord.ProcessRecord?

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

    package mutating func expect(_ record: ApplicationRecord.ProcessRecord, at now: Duration) {
        self.record = record
        deadline = now + limit
    }

    // MARK: Takeover

    /// Takes over the process of the record, which was found: one that is frozen stays so, and connects when it
    /// continues.
    ///
    /// The kernel knows whether it is frozen, whatever was recorded. A freeze may have been begun and not verified: it
    /// is begun again.
    package mutating func begin(isFrozen: Bool, in view: ApplicationView) -> [ApplicationEffect] {
        guard let record, let process = view.process else { return [] }
        let name = "process \(process.number)"
        if let report = record.killReport {
            return [.log("adopted while it is being killed: \(report)"), .process(.killAgain)]
        }
        if isFrozen, record.state == .suspended || record.state == .background { return [.freezeAgain] }
        guard record.isPlain else { return [.process(.thaw), .log("\(name) found, expected to connect")] }
        end()
        let adopted = AdoptedProcess(record.state == .suspended ? .background : record.state ?? .active)
        let takeover = introduction(of: adopted) + resumption(of: record.intention, in: view)
        return [.process(.cancelSuspension), .log("adopted: \(name), which does not connect"), .recordOnce(takeover)]
    }

    /// Takes over the process that was frozen again, or expects it to connect.
    package mutating func begin(_ outcome: FreezeAttempt.Outcome, in view: ApplicationView) -> [ApplicationEffect] {
        guard let record, let process = view.process else { return [] }
        guard case .verified = outcome else {
            deadline = view.now + limit
            return [.process(.cancelSuspension)]
        }
        end()
        let takeover = introduction(of: AdoptedProcess(.suspended)) + [.watchSuspended]
        return [
            .log("adopted: suspended, process \(process.number)"),
            .recordOnce(takeover + resumption(of: record.intention, in: view)),
        ]
    }

    /// Makes the process known to the state machine.
    private func introduction(of adopted: AdoptedProcess) -> [ApplicationEffect] {
        // One that runs again was continued without a message, and holds its notices until it knows.
        (adopted.state == .suspended ? [] : [.deliverNotices]) + [.introduce(.processAdopted(adopted))]
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
            return [.introduce(.processConnected(inBackground: isBackground))] + resumption + [.handleWaitingRequests]
        }
        // Only a supervisor makes it.
        let made: Set<ContinuousAssertion> = record.assertions.contains(.continued) ? [] : [.continued]
        let adopted = AdoptedProcess(
            running.state == .suspended ? .background : running.state,
            openTasks: process.openTasks(),
            wakes: running.wakes,
            assertions: running.assertions.subtracting(made)
        )
        let line = "adopted: \(running.state), process \(process.number)"
        return [.log(line)] + introduction(of: adopted) + resumption + [.handleWaitingRequests]
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
            effects = [.process(.expectTermination), .handle(.terminate(grace: rest ?? gracePeriod))]
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

    /// Records that the process has ended, or cannot be supervised.
    package mutating func lose() {
        lost = record
        end()
    }

    /// Returns the record of a process that was lost, once.
    package mutating func takeLost() -> ApplicationRecord.ProcessRecord? {
        defer { lost = nil }
        return lost
    }

    // MARK: Requests that wait

    /// Handles a request now, or when the process has connected; returns `nil` if too many wait.
    package mutating func admit(_ event: LifecycleEvent) -> [ApplicationEffect]? {
        guard record != nil else { return [.handle(event)] }
        guard deadline != nil else { return [.reject(event, because: .notConnected)] }
        guard requests.count < Self.requestLimit else { return nil }
        requests.append(event)
        return [.saveRecord]
    }

    /// Keeps requests, however many there are.
    package mutating func keep(_ events: [LifecycleEvent]) { requests += events }

    /// Replaces the requests with those of a record.
    package mutating func restore(_ events: [LifecycleEvent]) { requests = events }

    /// Handles the request that has waited for longest, or refuses one to a process that has ended; returns `nil` if
    /// none waits.
    ///
    /// The others stay in the record until they are handled, for a supervisor that follows if this one is killed
    /// meanwhile.
    package mutating func handleNext(in view: ApplicationView) -> [ApplicationEffect]? {
        guard let request = requests.first else { return nil }
        requests.removeFirst()
        if view.process == nil, !request.isStart { return [.reject(request, because: .processEnded)] }
        if case .wake(let reason, let allowance) = request {
            return [.rewake(OpenWake(reason, allowance: allowance))]
        }
        return [.handle(request)]
    }

    /// Refuses all requests.
    package mutating func rejectAll(because refusal: LifecycleEffect.Refusal) -> [ApplicationEffect] {
        defer { requests = [] }
        return requests.map { .reject($0, because: refusal) } + [.saveRecord]
    }

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
        let line = "process \(process.number) has not connected, and continues without supervision"
        return [.log(line)] + rejectAll(because: .notConnected)
    }
}
