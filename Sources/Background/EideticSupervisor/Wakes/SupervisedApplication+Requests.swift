import EideticCore
import EideticLifecycle
import EideticSupervision

// Requests of the application for wakes, which are not trusted.
extension SupervisedApplication {
    func receive(_ command: WakeCommand, with packet: PacketSocket.Packet, from process: RunningProcess) {
        let now = context.clock.now
        switch command {
        case .setFetchInterval(let interval):
            guard interval == .never || declares(.fetch, number: 0) else { break }
            wakeRecord.schedule.setFetchInterval(interval, at: now)
        case .submit(let request, let number): submit(request, number: number, at: now)
        case .cancel(let identifier): wakeRecord.schedule.cancel(identifier)
        case .addNotification(let request, let number): add(request, number: number, at: now)
        case .removeNotifications(let identifiers, let waiting, let shown):
            let names = identifiers.map(Set.init)
            if waiting { wakeRecord.notifications.removePending(names) }
            if shown { withdrawNotifications(names) }
        case .listNotifications(let number): listNotifications(number: number, at: now)
        case .setBadge(let badge): setBadge(badge)
        case .registerForMessages: if declares(.remoteNotification, number: 0) { registerForMessages() }
        case .unregisterFromMessages: unregisterFromMessages()
        case .keepSocket(let name): keepSocket(packet, name: name)
        case .releaseSocket(let name): keptSockets[name] = nil
        case .setLocationUpdates(let isOn):
            guard !isOn || declares(.location, number: 0) else { break }
            wakeRecord.wantsLocation = isOn
            context.desktop?.updateLocation()
        case .beginContinued(let message, let number): beginContinued(message, number: number, from: process)
        case .reportContinued(let identifier, let completed, let total):
            reportContinued(identifier, completed: completed, total: total, from: process)
        case .endContinued(let identifier): endContinued(identifier, of: process)
        }
        saveWakes()
    }

    private func submit(_ request: TaskRequest, number: UInt64, at now: ScheduleTime) {
        guard declares(request.kind == .refresh ? .fetch : .processing, number: number) else { return }
        var request = request
        request.earliestBegin = request.earliestBegin.map { now.steady + min(max(0, $0), 3_660 * .day) }
        var fault: TaskRequestError?
        do throws(TaskRequestError) { try wakeRecord.schedule.submit(request, at: now) } catch { fault = error }
        send(.wakes(.task(fault, number: number)))
    }

    /// Returns whether the application declares a mode; otherwise refuses the request with the reason.
    func declares(_ mode: BackgroundMode, number: UInt64) -> Bool {
        let isDeclared =
            mode.wakeKind.map(lifecycle.rules.declaredWakeKinds.contains)
            ?? mode.assertion.map(lifecycle.rules.declaredAssertions.contains)
        guard isDeclared == false else { return true }
        let text = explanation(ofUndeclared: mode)
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
            throw refuseMessage(.undeclaredMode, because: explanation(ofUndeclared: .remoteNotification))
        }
        forgiveWakeCrashes()
        // Before the throttle, which counts what is delivered.
        if let refusal = obstacle(toWakesFor: .push) { throw refuseMessage(refusal, because: refusal.explanation) }
        let now = context.clock.now
        guard let admitted = wakeRecord.throttle.admit(payload.bytes, at: now.steady) else {
            let delay = (wakeRecord.throttle.nextTime ?? now.steady) - now.steady
            let text = "throttled: the newest message is delivered in \(ScheduleText.duration(delay))"
            log(text)
            saveWakes()
            return text
        }
        start(.push, payload: admitted, at: now)
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
        let now = context.clock.now
        switch simulation {
        case .fetch:
            guard !wakeRecord.schedule.isFetching else { return "a fetch is under way" }
            wakeRecord.schedule.isFetching = true
            start(.fetch, at: now)
        case .task(let identifier):
            guard
                let index = wakeRecord.schedule.tasks.firstIndex(where: {
                    $0.request.identifier == identifier && !$0.isRunning
                })
            else { return "no request with the identifier \(identifier) is pending" }
            wakeRecord.schedule.tasks[index].isRunning = true
            start(.task(wakeRecord.schedule.tasks[index].request), at: now)
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
        guard wakeRecord.wantsLocation else { return "the application has not asked for updates of the location" }
        forgiveWakeCrashes()
        if let refusal = obstacle(toWakesFor: .location) { return refusal.explanation }
        start(.location, payload: location.payload, at: context.clock.now)
        return nil
    }

    // MARK: Explanations

    /// The lines about wakes and notifications for `eidetic app why`.
    var wakeLines: [String] {
        let now = context.clock.now
        var lines = refusedWakeLines
        lines += wakeRecord.schedule.explanation(at: now, conditions: MachineConditions.current)
        if let time = wakeRecord.throttle.nextTime {
            lines.append("a message of a server waits for \(ScheduleText.duration(time - now.steady)) more")
        }
        let (waiting, armed) = (wakeRecord.notifications.pending.count, wakeRecord.notifications.armed(at: now).count)
        if waiting > 0 {
            let delays = wakeRecord.notifications.nextDelays(at: now)
            let next = [delays.steady, delays.wall].compactMap(\.self).min() ?? 0
            lines.append(
                "notifications: \(waiting) wait, \(armed) of them armed, the next one in \(ScheduleText.duration(next))"
            )
        }
        if wakeRecord.wantsLocation { lines.append("\(word(for: .location)) when the location changes") }
        for name in keptSockets.keys.sorted() { lines.append("\(word(for: .voip)) for data on the socket \(name)") }
        return lines + context.busLines
    }

    private func word(for kind: WakeReason.Kind) -> String { obstacle(toWakesFor: kind) == nil ? "woken" : "not woken" }

    /// The reasons for which what is planned will not come, before its next chance.
    private var refusedWakeLines: [String] {
        var kinds: [LifecycleEffect.Refusal: [WakeReason.Kind]] = [:]
        for kind in WakeReason.Kind.allCases {
            if let refusal = obstacle(toWakesFor: kind) { kinds[refusal, default: []].append(kind) }
        }
        return kinds.sorted { $0.key.explanation < $1.key.explanation }.map { refusal, kinds in
            "no chance of wakes for \(kinds.map { "\($0)" }.joined(separator: ", ")): \(refusal.explanation)"
        }
    }
}
