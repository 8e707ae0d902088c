import EideticCore
import EideticLifecycle

/// A wake that the supervisor has begun, until its result is known.
struct ActiveWake {
    let kind: WakeReason.Kind
    /// The place in the schedule; `nil` for a wake that no schedule plans.
    let wake: WakeSchedule.Wake?
    let start: ScheduleTime
}

// Wakes that are planned, and their results.
extension SupervisedApplication {
    /// The pauses after which a wake is tried again that was refused, in seconds.
    private static let refusalPause: Int64 = .hour

    /// Performs what is due by the schedule.
    func performDueWakes(at now: ScheduleTime) {
        if let time = wakeRecord.schedule.nextTime, time <= now.steady { startDueWakes(at: now) }
        if lifecycle.mayBeWoken(for: .push), let time = wakeRecord.throttle.nextTime, time <= now.steady,
            let payload = wakeRecord.throttle.takeWaiting(at: now.steady)
        {
            log("the newest message that waited is delivered")
            start(.push, payload: payload, at: now)
        }
        showDueNotifications(at: now)
        saveWakes()
    }

    /// The time of the next wake or notification by the steady clock; `nil` if there is none.
    func nextWakeTime(at now: ScheduleTime) -> Int64? {
        wakeRecord.nextTime(at: now, admitsMessages: lifecycle.mayBeWoken(for: .push))
    }

    private func startDueWakes(at now: ScheduleTime) {
        let wakes = wakeRecord.schedule.startDueWakes(
            at: now,
            conditions: MachineConditions.current,
            liftsQuota: context.configuration.liftsQuotas
        )
        for wake in wakes { start(wake, at: now) }
    }

    /// Begins a wake of the schedule, which it counts as under way.
    func start(_ wake: WakeSchedule.Wake, at now: ScheduleTime) {
        guard process != nil || hasProgram else {
            lastObstacle = "no program is known that could be woken"
            return wakeRecord.schedule.postpone(wake, by: Self.refusalPause, at: now)
        }
        switch wake {
        case .fetch: start(.fetch, for: wake, at: now)
        case .task(let request):
            let kind: WakeReason.Kind = request.kind == .refresh ? .fetch : .processing
            start(kind, for: wake, session: request.identifier, at: now)
        }
    }

    /// Wakes the application, or launches it.
    func start(
        _ kind: WakeReason.Kind,
        for wake: WakeSchedule.Wake? = nil,
        session: String = "",
        payload: [UInt8] = [],
        at now: ScheduleTime
    ) {
        lastSequence += 1
        let reason = WakeReason(kind, id: lastSequence, session: session, payload: payload)
        activeWakes[reason.id] = ActiveWake(kind: kind, wake: wake, start: now)
        log("\(kind) wake \(reason.id)\(session.isEmpty ? "" : " for \(session)") begins")
        if !handleWhenConnected(.wake(reason, allowance: lifecycle.rules.limit(of: kind))) {
            log("too many requests wait: not woken")
            endWake(reason.id, refusal: .tooManyRequests)
        }
    }

    /// Learns of a wake that an earlier supervisor has begun, so that it is neither begun again, nor its result lost.
    func adoptWake(_ reason: WakeReason) {
        guard activeWakes[reason.id] == nil, ![.session, .notification].contains(reason.kind) else { return }
        let kind: TaskRequest.Kind? = reason.kind == .processing ? .processing : reason.session.isEmpty ? nil : .refresh
        let isPlanned = reason.kind == .fetch || reason.kind == .processing
        let wake = isPlanned ? wakeRecord.schedule.resume(kind, identifier: reason.session) : nil
        activeWakes[reason.id] = ActiveWake(kind: reason.kind, wake: wake, start: context.clock.now)
    }

    /// Passes the result of a wake to the schedule.
    func completeWake(_ wake: WakeReason, result: WakeResult) {
        guard let active = activeWakes.removeValue(forKey: wake.id) else { return }
        let now = context.clock.now
        let seconds = now.steady - active.start.steady
        if let planned = active.wake {
            wakeRecord.schedule.complete(planned, result: result, seconds: seconds, at: now)
        } else {
            wakeRecord.schedule.charge(seconds: seconds, at: now)
        }
    }

    /// Plans a wake again that was refused.
    func endWake(_ id: UInt64, refusal: LifecycleEffect.Refusal) {
        guard let active = activeWakes.removeValue(forKey: id), let wake = active.wake else { return }
        let pause = refusal == .undeclaredMode ? .day : Self.refusalPause
        wakeRecord.schedule.postpone(wake, by: pause, at: context.clock.now)
    }

    /// Follows a change of the application's state.
    func updateWakes() {
        recordUse()
        recordWakeCrashes()
        watchSockets(at: Clock.now)
        watchConditions()
        saveWakes()
    }

    /// Looks at the conditions of processing that runs when the kernel reports a change, and at intervals: nothing
    /// reports that the machine is in use.
    private func watchConditions() {
        guard needsConditions else { return (conditionCheck, conditionReports) = (nil, nil) }
        conditionCheck = conditionCheck ?? Clock.now + context.configuration.conditionInterval
        conditionReports =
            conditionReports ?? ConditionReports(poller: context.poller) { [weak self] in self?.checkConditions() }
    }

    /// Learns when the user uses the application.
    private func recordUse() {
        let isInUse = lifecycle.reachedState == .active
        guard isInUse != wakeRecord.schedule.isInUse else { return }
        let now = context.clock.now
        if isInUse { wakeRecord.schedule.recordUse(at: now) } else { wakeRecord.schedule.recordEndOfUse(at: now) }
    }

    /// Stops processing whose conditions are not met any more.
    func checkConditions() {
        guard !lifecycle.isBackgroundTimeExpired else { return }
        let running = wakeRecord.schedule.tasks.filter { $0.isRunning && $0.request.kind == .processing }
        let obstacles = running.flatMap { MachineConditions.current.obstacles(to: $0.request.constraints) }
        guard let first = obstacles.first else { return }
        log("processing is stopped: \(first)")
        handle(.backgroundTimeRevoked)
    }

    /// A Boolean value indicating whether processing runs that needs a condition.
    var needsConditions: Bool {
        wakeRecord.schedule.tasks.contains { task in
            task.isRunning && task.request.constraints != TaskRequest.Constraints()
        }
    }

    // MARK: Records

    private var wakeRecordPath: String { "\(archiveDirectory)/wakes" }

    /// Reads what an earlier supervisor has planned; nothing that cannot be read.
    func restoreWakes() {
        guard let bytes = context.directory.contents(of: wakeRecordPath) else { return }
        do throws(WireError) {
            wakeRecord = try WireReader.decode(WakeRecord.self, from: bytes)
            writtenWakeRecord = wakeRecord
            program = program ?? wakeRecord.program
            lifecycle.wasForceQuit = lifecycle.wasForceQuit || wakeRecord.wasForceQuit
            restoreWakeCrashes(wakeRecord.crashes.counts)
            wakeRecord.schedule.restart(at: context.clock.now) { _ in false }
        } catch {
            log("its schedule is damaged: \(error)")
        }
    }

    /// Writes the schedule if it has changed and says anything.
    func saveWakes() {
        (wakeRecord.program, wakeRecord.wasForceQuit) = (program, lifecycle.wasForceQuit)
        guard wakeRecord != writtenWakeRecord, writtenWakeRecord != nil || !wakeRecord.isEmpty else { return }
        do throws(SystemError) {
            try FileSystem().makeDirectories(archiveDirectory)
            try context.directory.replace(wakeRecordPath, with: WireWriter.encode(wakeRecord))
            writtenWakeRecord = wakeRecord
        } catch {
            Log.write(.error, category: .background, message: "cannot save the schedule of \(identifier): \(error)")
        }
    }
}
