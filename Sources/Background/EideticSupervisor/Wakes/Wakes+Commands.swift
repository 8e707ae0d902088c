import EideticCore
package import EideticLifecycle
package import EideticSupervision

// Requests of the application, which are not trusted, and of `eidetic app`.
extension Wakes {
    /// Obeys a command of the application; other components obey the rest.
    package mutating func obey(
        _ command: WakeCommand,
        in view: ApplicationView,
        at now: ScheduleTime
    ) -> [ApplicationEffect] {
        switch command {
        case .setFetchInterval(let interval):
            if interval != .never, let refusal = view.refusal(of: .fetch) { return refusal }
            record.schedule.setFetchInterval(interval, at: now)
            return []
        case .submit(let request, let number): return submit(request, number: number, in: view, at: now)
        case .cancel(let identifier):
            record.schedule.cancel(identifier)
            return []
        case .addNotification(let request, let number): return add(request, number: number, at: now)
        case .removeNotifications(let identifiers, let waiting, let shown):
            let names = identifiers.map(Set.init)
            if waiting { record.notifications.removePending(names) }
            return shown ? [.desktop(.withdrawNotifications(names))] : []
        case .listNotifications(let number): return listNotifications(number: number)
        case .setBadge(let badge): return [.desktop(.setBadge(badge))]
        case .registerForMessages: return view.refusal(of: .remoteNotification) ?? [.desktop(.registerForMessages)]
        case .unregisterFromMessages: return [.desktop(.unregisterFromMessages)]
        case .setLocationUpdates(let isOn):
            if isOn, let refusal = view.refusal(of: .location) { return refusal }
            record.wantsLocation = isOn
            return [.desktop(.updateLocation)]
        case .keepSocket, .releaseSocket, .beginContinued, .reportContinued, .endContinued: return []
        }
    }

    private mutating func submit(
        _ request: TaskRequest,
        number: UInt64,
        in view: ApplicationView,
        at now: ScheduleTime
    ) -> [ApplicationEffect] {
        let mode: DeclaredMode = request.kind == .refresh ? .fetch : .processing
        if let refusal = view.refusal(of: mode, number: number) { return refusal }
        var request = request
        request.earliestBegin = request.earliestBegin.map { now.steady + min(max(0, $0), 3_660 * .day) }
        var fault: TaskRequestError?
        do throws(TaskRequestError) { try record.schedule.submit(request, at: now) } catch { fault = error }
        return [.send(.wakes(.task(fault, number: number)))]
    }

    // MARK: Requests from outside

    /// Delivers a silent message of a server, now or when the throttle admits it.
    package mutating func deliver(
        _ payload: PushPayload,
        in view: ApplicationView,
        at now: ScheduleTime
    ) -> RequestOutcome {
        guard view.lifecycle.rules.declaredWakeKinds.contains(.push) else {
            let reason = view.explanation(.remoteNotification)
            return RequestOutcome([.refuse(because: reason)], refusal: reason)
        }
        let (view, pardon) = forgiving(view)
        // Before the throttle, which counts what is delivered.
        if let reason = view.lifecycle.obstacle(toWakesFor: .push)?.explanation {
            return RequestOutcome(pardon + [.refuse(because: reason)], refusal: reason)
        }
        if let admitted = record.throttle.admit(payload.bytes, at: now.steady) {
            return RequestOutcome(pardon + start(.push, payload: admitted, in: view, at: now) + [.saveWakes])
        }
        let delay = (record.throttle.nextTime ?? now.steady) - now.steady
        let note = "throttled: the newest message is delivered in \(ScheduleText.duration(delay))"
        return RequestOutcome(pardon + [.log(note), .saveWakes], note: note)
    }

    mutating func deliver(_ location: Location, in view: ApplicationView, at now: ScheduleTime) -> RequestOutcome {
        guard record.wantsLocation else {
            return RequestOutcome(refusal: "the application has not asked for updates of the location")
        }
        let (view, pardon) = forgiving(view)
        if let refusal = view.lifecycle.obstacle(toWakesFor: .location) {
            return RequestOutcome(pardon, refusal: refusal.explanation)
        }
        return RequestOutcome(pardon + start(.location, payload: location.payload, in: view, at: now))
    }

    /// Forgives the ends during wakes if it is time; returns the application as it is then.
    private func forgiving(_ view: ApplicationView) -> (ApplicationView, effects: [ApplicationEffect]) {
        let effects = forgiveCrashes(in: view)
        var next = view
        if !effects.isEmpty { next.lifecycle.history.wakeCrashCounts = [:] }
        return (next, effects)
    }

    /// Makes happen what otherwise comes at its own time.
    package mutating func simulate(
        _ simulation: ControlRequest.Simulation,
        in view: ApplicationView,
        at now: ScheduleTime
    ) -> RequestOutcome {
        switch simulation {
        case .fetch:
            guard !record.schedule.isFetching else { return RequestOutcome(refusal: "a fetch is under way") }
            record.schedule.isFetching = true
            return RequestOutcome(begin(.fetch, in: view, at: now) + [.saveWakes])
        case .task(let identifier):
            let found = record.schedule.tasks.firstIndex { $0.request.identifier == identifier && !$0.isRunning }
            guard let index = found else {
                return RequestOutcome(refusal: "no request with the identifier \(identifier) is pending")
            }
            record.schedule.tasks[index].isRunning = true
            let wake = WakeSchedule.Wake.task(record.schedule.tasks[index].request)
            return RequestOutcome(begin(wake, in: view, at: now) + [.saveWakes])
        case .expire:
            guard view.lifecycle.isInBackground, view.process != nil else {
                return RequestOutcome(refusal: "it is not in the background")
            }
            return RequestOutcome([.handle(.backgroundTimeRevoked)])
        case .memory(let level):
            guard view.process != nil else { return RequestOutcome(refusal: "it is not running") }
            guard (1...3).contains(level) else { return RequestOutcome(refusal: "the level is 1, 2 or 3") }
            return RequestOutcome([.handle(.memoryWarning(level: Int(level)))])
        case .location(let latitude, let longitude, let accuracy):
            let location = Location(latitude: latitude, longitude: longitude, accuracy: accuracy)
            guard location.isValid else {
                return RequestOutcome(refusal: "latitude, longitude or accuracy is out of range")
            }
            return deliver(location, in: view, at: now)
        }
    }
}

/// The outcome of a request from outside: the effects, and in words the reason for which it waits or is refused.
package struct RequestOutcome {
    package let effects: [ApplicationEffect]
    package let refusal: String?
    package let note: String?

    init(_ effects: [ApplicationEffect] = [], refusal: String? = nil, note: String? = nil) {
        self.effects = effects
        self.refusal = refusal
        self.note = note
    }
}
