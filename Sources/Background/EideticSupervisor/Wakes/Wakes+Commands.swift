import EideticCore
package import EideticLifecycle
package import EideticSupervision

// Requests of the application, which are not trusted, and of `eidetic app`.
extension Wakes {
    /// The outcome of a message of a server.
    package enum Delivery {
        case begun([ApplicationEffect])
        /// The newest message waits, for the reason.
        case delayed(String)
        case refused(LifecycleEffect.Refusal)
    }

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

    /// Delivers a silent message of a server, now or when the throttle admits it.
    package mutating func deliver(_ payload: PushPayload, in view: ApplicationView, at now: ScheduleTime) -> Delivery {
        // Before the throttle, which counts what is delivered.
        if let refusal = view.lifecycle.obstacle(toWakesFor: .push) { return .refused(refusal) }
        guard let admitted = record.throttle.admit(payload.bytes, at: now.steady) else {
            let delay = (record.throttle.nextTime ?? now.steady) - now.steady
            return .delayed("throttled: the newest message is delivered in \(ScheduleText.duration(delay))")
        }
        return .begun(start(.push, payload: admitted, in: view, at: now))
    }

    // MARK: Simulation

    /// Begins the next fetch at once.
    package mutating func beginFetch(
        in view: ApplicationView,
        at now: ScheduleTime
    ) throws(RefusedRequest) -> [ApplicationEffect] {
        guard !record.schedule.isFetching else { throw RefusedRequest(reason: "a fetch is under way") }
        record.schedule.isFetching = true
        return begin(.fetch, in: view, at: now)
    }

    /// Begins a task that waits at once.
    package mutating func beginTask(
        _ identifier: String,
        in view: ApplicationView,
        at now: ScheduleTime
    ) throws(RefusedRequest) -> [ApplicationEffect] {
        let found = record.schedule.tasks.firstIndex { $0.request.identifier == identifier && !$0.isRunning }
        guard let index = found else {
            throw RefusedRequest(reason: "no request with the identifier \(identifier) is pending")
        }
        record.schedule.tasks[index].isRunning = true
        return begin(.task(record.schedule.tasks[index].request), in: view, at: now)
    }
}
