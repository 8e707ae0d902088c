package import EideticLifecycle
import EideticSupervision

/// The wakes of an application: its schedule, those that are under way, and the ends in the middle of them.
package struct Wakes: ApplicationComponent {
    /// A wake that was begun and has no result.
    private struct ActiveWake {
        let kind: WakeReason.Kind
        /// The place in the schedule; `nil` for a wake that no schedule plans.
        let wake: WakeSchedule.Wake?
        let start: ScheduleTime
    }

    /// The pauses after which a wake is tried again that was refused, in seconds.
    private static let refusalPause: Int64 = .hour
    /// The time between two looks whether the program of an application is another one that is not woken any more.
    private static let crashInterval: Duration = .seconds(600)

    package var record: WakeRecord
    private let conditionInterval: Duration
    private let liftsQuotas: Bool
    /// The wakes that were begun and have no result, by their numbers.
    private var active: [UInt64: ActiveWake] = [:]
    private var lastNumber: UInt64
    /// The time of the next look whether the ends of the application during wakes are forgiven.
    private var crashCheck: Duration?
    /// The time of the next look at the conditions of processing that runs.
    private var conditionCheck: Duration?

    /// Creates the component.
    ///
    /// - Parameters:
    ///   - schedule: A schedule of this moment.
    ///   - lastNumber: The number before those of its wakes, unlike the numbers of earlier supervisors.
    ///   - conditionInterval: The time between two looks at the conditions of processing that runs.
    ///   - liftsQuotas: A Boolean value indicating whether the quotas of wakes do not apply.
    package init(schedule: WakeSchedule, lastNumber: UInt64, conditionInterval: Duration, liftsQuotas: Bool) {
        record = WakeRecord(schedule: schedule)
        self.lastNumber = lastNumber
        self.conditionInterval = conditionInterval
        self.liftsQuotas = liftsQuotas
    }

    package var deadline: Duration? { [crashCheck, conditionCheck].compactMap(\.self).min() }

    package func isActive(_ kind: WakeReason.Kind) -> Bool { active.values.contains { $0.kind == kind } }

    package mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    // MARK: Beginnings

    /// Returns the time of the next wake or notification by the steady clock; `nil` if there is none.
    package func nextTime(in view: ApplicationView, at now: ScheduleTime) -> Int64? {
        record.nextTime(at: now, admitsMessages: view.lifecycle.mayBeWoken(for: .push))
    }

    /// Begins what is due by the schedule.
    package mutating func startDue(in view: ApplicationView, at now: ScheduleTime) -> [ApplicationEffect] {
        var effects: [ApplicationEffect] = []
        if let time = record.schedule.nextTime, time <= now.steady {
            let wakes = record.schedule.startDueWakes(at: now, conditions: view.conditions(), liftsQuota: liftsQuotas)
            for wake in wakes { effects += begin(wake, in: view, at: now) }
        }
        if view.lifecycle.mayBeWoken(for: .push), let time = record.throttle.nextTime, time <= now.steady,
            let payload = record.throttle.takeWaiting(at: now.steady)
        {
            effects.append(.log("the newest message that waited is delivered"))
            effects += start(.push, payload: payload, in: view, at: now)
        }
        return effects
    }

    /// Begins a wake of the schedule, which it counts as under way.
    package mutating func begin(
        _ wake: WakeSchedule.Wake,
        in view: ApplicationView,
        at now: ScheduleTime
    ) -> [ApplicationEffect] {
        guard view.process != nil || view.hasProgram else {
            record.schedule.postpone(wake, by: Self.refusalPause, at: now)
            return [.recordObstacle("no program is known that could be woken")]
        }
        switch wake {
        case .fetch: return start(.fetch, for: wake, in: view, at: now)
        case .task(let request):
            let kind: WakeReason.Kind = request.kind == .refresh ? .fetch : .processing
            return start(kind, for: wake, session: request.identifier, in: view, at: now)
        }
    }

    /// Wakes the application, or launches it.
    package mutating func start(
        _ kind: WakeReason.Kind,
        for wake: WakeSchedule.Wake? = nil,
        session: String = "",
        payload: [UInt8] = [],
        in view: ApplicationView,
        at now: ScheduleTime
    ) -> [ApplicationEffect] {
        let reason = WakeReason(kind, id: nextNumber(), session: session, payload: payload)
        active[reason.id] = ActiveWake(kind: kind, wake: wake, start: now)
        return [.request(.wake(reason, allowance: view.lifecycle.rules.limit(of: kind)))]
    }

    /// Learns of a wake that an earlier supervisor has begun, so that it is neither begun again, nor its result lost.
    package mutating func adopt(_ reason: WakeReason, at now: ScheduleTime) {
        guard active[reason.id] == nil, ![.session, .notification].contains(reason.kind) else { return }
        let kind: TaskRequest.Kind? = reason.kind == .processing ? .processing : reason.session.isEmpty ? nil : .refresh
        let isPlanned = reason.kind == .fetch || reason.kind == .processing
        let wake = isPlanned ? record.schedule.resume(kind, identifier: reason.session) : nil
        active[reason.id] = ActiveWake(kind: reason.kind, wake: wake, start: now)
    }

    // MARK: Ends

    /// Passes the result of a wake to the schedule; one that its process did not live to complete has failed for the
    /// transfer process.
    package mutating func complete(
        _ reason: WakeReason,
        result: WakeResult,
        in view: ApplicationView,
        at now: ScheduleTime
    ) -> [ApplicationEffect] {
        record(result, of: reason, at: now)
        let hasEnded = [.notRunning, .launching, .launchingInBackground].contains(view.lifecycle.reachedState)
        let failure = result == .failed && hasEnded ? failure(of: reason) : []
        return [.log("\(reason.kind) wake \(reason.id): \(result)")] + failure
    }

    /// Returns the effect of a wake that has failed, or was refused.
    private func failure(of reason: WakeReason) -> [ApplicationEffect] {
        reason.kind == .session ? [.reportSessionFailure(reason.session)] : []
    }

    private mutating func record(_ result: WakeResult, of reason: WakeReason, at now: ScheduleTime) {
        guard let active = active.removeValue(forKey: reason.id) else { return }
        let seconds = now.steady - active.start.steady
        if let planned = active.wake {
            record.schedule.complete(planned, result: result, seconds: seconds, at: now)
        } else {
            record.schedule.charge(seconds: seconds, at: now)
        }
    }

    /// Plans a wake again that was refused; returns the failure, unless it would be refused until the application is
    /// used again.
    package mutating func refuse(
        _ reason: WakeReason,
        because refusal: LifecycleEffect.Refusal,
        at now: ScheduleTime
    ) -> [ApplicationEffect] {
        if let wake = active.removeValue(forKey: reason.id)?.wake {
            record.schedule.postpone(wake, by: refusal == .undeclaredMode ? .day : Self.refusalPause, at: now)
        }
        return refusal == .undeclaredMode || refusal == .forceQuit ? [] : failure(of: reason)
    }

    // MARK: Notifications

    /// Accepts a notification, or refuses it with the fault.
    package mutating func add(
        _ request: NotificationRequest,
        number: UInt64,
        at now: ScheduleTime
    ) -> [ApplicationEffect] {
        var fault = request.fault
        if fault == nil, !record.notifications.add(request, at: now) {
            fault = "\(NotificationTable.pendingLimit) notifications wait already"
        }
        return (fault == nil ? [.saveWakes] : []) + [.send(.wakes(.notification(fault: fault, number: number)))]
    }

    /// Lists the notifications that wait, in as many packets as they need.
    package func listNotifications(number: UInt64) -> [ApplicationEffect] {
        let identifiers = record.notifications.pending.map(\.request.identifier)
        let size = WakeCommand.identifiersPerPacket
        return stride(from: 0, through: max(0, identifiers.count - 1), by: size).map { start in
            let part = Array(identifiers[start..<min(start + size, identifiers.count)])
            let isLast = start + size >= identifiers.count
            return .send(.wakes(.notifications(part, number: number, isLast: isLast)))
        }
    }

    // MARK: Changes

    package mutating func handle(_ change: ApplicationChange, in view: ApplicationView) -> [ApplicationEffect] {
        switch change {
        case .processChanged: return []
        case .settled:
            recordUse(in: view)
            recordCrashes(in: view)
            return watchConditions(at: view.now)
        case .deadline:
            var effects: [ApplicationEffect] = []
            if let time = crashCheck, time <= view.now {
                crashCheck = view.now + Self.crashInterval
                effects += forgiveCrashes(in: view)
            }
            if let time = conditionCheck, time <= view.now {
                conditionCheck = view.now + conditionInterval
                effects += checkConditions(in: view)
            }
            return effects
        }
    }

    /// Learns when the user uses the application; nobody tells of a program that does not know the supervisor.
    private mutating func recordUse(in view: ApplicationView) {
        let isInUse = view.lifecycle.reachedState == .active && !view.isPlain
        guard isInUse != record.schedule.isInUse else { return }
        let now = view.scheduleTime()
        if isInUse { record.schedule.recordUse(at: now) } else { record.schedule.recordEndOfUse(at: now) }
    }

    /// Looks at the conditions of processing that runs when the kernel reports a change, and at intervals: nothing
    /// reports that the machine is in use.
    private mutating func watchConditions(at now: Duration) -> [ApplicationEffect] {
        let isNeeded = record.schedule.tasks.contains { task in
            task.isRunning && task.request.constraints != TaskRequest.Constraints()
        }
        guard isNeeded != (conditionCheck != nil) else { return [] }
        conditionCheck = isNeeded ? now + conditionInterval : nil
        return [.watchConditions(isNeeded)]
    }

    /// Stops processing whose conditions are not met any more.
    package func checkConditions(in view: ApplicationView) -> [ApplicationEffect] {
        guard !view.lifecycle.stay.isExpired else { return [] }
        let running = record.schedule.tasks.filter { $0.isRunning && $0.request.kind == .processing }
        let obstacles = running.flatMap { view.conditions().obstacles(to: $0.request.constraints) }
        guard let first = obstacles.first else { return [] }
        return [.log("processing is stopped: \(first)"), .handle(.backgroundTimeRevoked)]
    }

    // MARK: Ends of the application in the middle of wakes

    /// Records new ends.
    package mutating func recordCrashes(in view: ApplicationView) {
        let counts = view.lifecycle.history.wakeCrashCounts.mapValues { UInt32(clamping: $0) }
        let isCrashing = WakeReason.Kind.allCases.contains(where: view.lifecycle.isCrashing(in:))
        crashCheck = isCrashing ? crashCheck ?? view.now + Self.crashInterval : nil
        guard counts != record.crashes.counts else { return }
        let program = counts.isEmpty ? nil : view.programFile()
        record.crashes = WakeCrashes(counts: counts, time: view.scheduleTime().steady, program: program)
    }

    /// Forgets the ends, if it is time.
    package func forgiveCrashes(in view: ApplicationView) -> [ApplicationEffect] {
        guard !record.crashes.counts.isEmpty else { return [] }
        guard let reason = record.crashes.pardon(at: view.scheduleTime(), program: view.programFile()) else {
            return []
        }
        return [.log("its ends during wakes are forgiven: \(reason)"), .forgiveWakeCrashes]
    }
}
