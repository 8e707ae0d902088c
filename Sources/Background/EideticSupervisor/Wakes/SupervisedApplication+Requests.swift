import EideticCore
import EideticLifecycle
import EideticSupervision

// Requests of the application for wakes, which are not trusted.
extension SupervisedApplication {
    func receive(_ command: WakeCommand, with packet: PacketSocket.Packet) {
        let now = context.clock.now
        switch command {
        case .setFetchInterval(let interval):
            guard interval == .never || declares(.fetch, number: 0) else { break }
            components.wakes.record.schedule.setFetchInterval(interval, at: now)
        case .submit(let request, let number): submit(request, number: number, at: now)
        case .cancel(let identifier): components.wakes.record.schedule.cancel(identifier)
        case .addNotification(let request, let number): perform(components.wakes.add(request, number: number, at: now))
        case .removeNotifications(let identifiers, let waiting, let shown):
            let names = identifiers.map(Set.init)
            if waiting { components.wakes.record.notifications.removePending(names) }
            if shown { context.desktop?.withdrawNotifications(names, of: self) }
        case .listNotifications(let number): perform(components.wakes.listNotifications(number: number))
        case .setBadge(let badge): context.desktop?.setBadge(badge, of: self)
        case .registerForMessages:
            if declares(.remoteNotification, number: 0) { context.desktop?.registerForMessages(of: self) }
        case .unregisterFromMessages: context.desktop?.unregisterFromMessages(of: self)
        case .keepSocket(let name): keepSocket(packet, name: name)
        case .releaseSocket(let name): components.sockets.release(name)
        case .setLocationUpdates(let isOn):
            guard !isOn || declares(.location, number: 0) else { break }
            components.wakes.record.wantsLocation = isOn
            context.desktop?.updateLocation()
        case .beginContinued(let message, let number):
            if declares(.continued, number: number) {
                perform(components.work.begin(message, number: number, in: view))
            }
        case .reportContinued(let identifier, let completed, let total):
            let progress = WorkProgress(completed: completed, total: total)
            perform(components.work.report(identifier, progress: progress, in: view))
        case .endContinued(let identifier): perform(components.work.end(identifier, in: view))
        }
        saveWakes()
    }

    private func submit(_ request: TaskRequest, number: UInt64, at now: ScheduleTime) {
        guard declares(request.kind == .refresh ? .fetch : .processing, number: number) else { return }
        var request = request
        request.earliestBegin = request.earliestBegin.map { now.steady + min(max(0, $0), 3_660 * .day) }
        var fault: TaskRequestError?
        do throws(TaskRequestError) { try components.wakes.record.schedule.submit(request, at: now) } catch {
            fault = error
        }
        send(.wakes(.task(fault, number: number)))
    }

    /// Returns whether the application declares a mode; otherwise refuses the request with the reason.
    func declares(_ mode: DeclaredMode, number: UInt64) -> Bool {
        let isDeclared =
            mode.wakeKind.map(lifecycle.rules.declaredWakeKinds.contains)
            ?? mode.assertion.map(lifecycle.rules.declaredAssertions.contains)
        guard isDeclared == false else { return true }
        let text = manifest.explanation(ofUndeclared: mode)
        lastRefusal = RefusedUse(refusal: .undeclaredMode, explanation: text)
        log("refused: \(text)")
        send(.wakes(.task(.notPermitted, number: number)))
        return false
    }

    // MARK: Messages of servers

    /// Delivers a silent message, now or when the throttle admits it.
    ///
    /// - Returns: The reason for a later delivery; `nil` if it is under way.
    func deliverMessage(_ payload: PushPayload, isThrottled: Bool = true) throws(RefusedMessage) -> String? {
        if !lifecycle.rules.declaredWakeKinds.contains(.push) {
            throw refuseMessage(.undeclaredMode, because: manifest.explanation(ofUndeclared: .remoteNotification))
        }
        forgiveWakeCrashes()
        // Before the throttle, which counts what is delivered.
        if let refusal = lifecycle.obstacle(toWakesFor: .push) {
            throw refuseMessage(refusal, because: refusal.explanation)
        }
        let now = context.clock.now
        guard let admitted = components.wakes.record.throttle.admit(payload.bytes, at: now.steady) else {
            let delay = (components.wakes.record.throttle.nextTime ?? now.steady) - now.steady
            let text = "throttled: the newest message is delivered in \(ScheduleText.duration(delay))"
            log(text)
            saveWakes()
            return text
        }
        start(.push, payload: admitted)
        saveWakes()
        return nil
    }

    struct RefusedMessage: Error { let reason: String }

    /// Records the refusal of a message, for `eidetic app why` and the log.
    private func refuseMessage(_ refusal: LifecycleEffect.Refusal, because reason: String) -> RefusedMessage {
        lastRefusal = RefusedUse(refusal: refusal, explanation: reason)
        log("refused: \(reason)")
        return RefusedMessage(reason: reason)
    }

    // MARK: Simulation

    /// Makes happen what otherwise comes at its own time; returns the reason for which it cannot, if there is one.
    func simulate(_ simulation: ControlRequest.Simulation) -> String? {
        switch simulation {
        case .fetch:
            guard !components.wakes.record.schedule.isFetching else { return "a fetch is under way" }
            components.wakes.record.schedule.isFetching = true
            perform(components.wakes.begin(.fetch, in: view, at: context.clock.now))
        case .task(let identifier):
            guard
                let index = components.wakes.record.schedule.tasks.firstIndex(where: {
                    $0.request.identifier == identifier && !$0.isRunning
                })
            else { return "no request with the identifier \(identifier) is pending" }
            components.wakes.record.schedule.tasks[index].isRunning = true
            let wake = WakeSchedule.Wake.task(components.wakes.record.schedule.tasks[index].request)
            perform(components.wakes.begin(wake, in: view, at: context.clock.now))
        case .expire:
            guard lifecycle.isInBackground, process != nil else { return "it is not in the background" }
            handle(.backgroundTimeRevoked)
        case .memory(let level):
            guard process != nil else { return "it is not running" }
            guard (1...3).contains(level) else { return "the level is 1, 2 or 3" }
            handle(.memoryWarning(level: Int(level)))
        case .location(let latitude, let longitude, let accuracy):
            let location = Location(latitude: latitude, longitude: longitude, accuracy: accuracy)
            guard location.isValid else { return "latitude, longitude or accuracy is out of range" }
            return deliver(location)
        }
        saveWakes()
        return nil
    }

    /// Wakes the application for a location; returns the reason for which it is not woken, if there is one.
    func deliver(_ location: Location) -> String? {
        guard components.wakes.record.wantsLocation else {
            return "the application has not asked for updates of the location"
        }
        forgiveWakeCrashes()
        if let refusal = lifecycle.obstacle(toWakesFor: .location) { return refusal.explanation }
        start(.location, payload: location.payload)
        return nil
    }
}
