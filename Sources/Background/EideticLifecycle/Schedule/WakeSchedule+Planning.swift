// The choice of times.
extension WakeSchedule {
    /// The days of observation before habits count.
    static let trialDayCount: Int64 = 3
    /// The interval of fetches while little is known of the user, in seconds.
    static let coldStartInterval: Int64 = 4 * .hour
    /// The interval of fetches of an application that is hardly used, in seconds.
    static let unusedInterval: Int64 = .day
    /// The time that a wake under way takes of the quota until its end is known, in seconds.
    private static let reservedSeconds: Int64 = 30
    /// The share of the greatest utility with which a time is chosen that comes earlier.
    private static let goodShare = 0.8

    package func bucket(at now: ScheduleTime) -> StandbyBucket {
        isInUse ? .active : StandbyBucket(secondsSinceUse: now.steady - lastUse)
    }

    /// Chooses the time of the next fetch.
    package mutating func planFetch(at now: ScheduleTime) {
        clockDifference = now.local - now.steady
        guard let interval = fetchInterval.granted, let lastFetch else { return fetchPlan = nil }
        let stretched = Swift.min(Swift.max(.day, interval), Int64(Double(interval) * score.intervalFactor))
        let pauseEnd = lastFetch + score.backoff
        let earliest = Swift.max(now.steady, lastFetch + stretched, pauseEnd)
        fetchPlan = plan(from: earliest, lastFetch: lastFetch, at: now)
        if fetchPlan?.time == pauseEnd.alignedToMinute, score.backoff > 0 { fetchPlan?.reason = .backoff }
    }

    private func plan(from earliest: Int64, lastFetch: Int64, at now: ScheduleTime) -> Plan {
        if habits.observedDayCount <= Self.trialDayCount {
            return Plan(
                time: Swift.max(earliest, lastFetch + Self.coldStartInterval).alignedToMinute,
                reason: .coldStart
            )
        }
        if let time = bestTime(from: earliest, at: now) { return Plan(time: time, reason: .habits) }
        return Plan(time: Swift.max(earliest, lastFetch + Self.unusedInterval).alignedToMinute, reason: .noHabits)
    }

    /// The first time in a day whose utility is near the greatest one; `nil` if the user is not expected.
    private func bestTime(from earliest: Int64, at now: ScheduleTime) -> Int64? {
        let first = (earliest + clockDifference + .quarterHour - 1).flooredDivision(by: .quarterHour) * .quarterHour
        let slots = (0..<Int64(UsageHabits.binCount)).map { first + $0 * .quarterHour }
        let utilities = slots.map { habits.utility(atLocal: $0) }
        guard let greatest = utilities.max(), greatest > 0.01,
            let index = utilities.firstIndex(where: { $0 >= greatest * Self.goodShare })
        else { return nil }
        return now.steady(ofLocal: slots[index]).alignedToMinute
    }

    /// The first plan of a request: a refresh before the user is expected, processing as soon as it may.
    func plan(for request: TaskRequest, at now: ScheduleTime) -> Plan {
        let earliest = Swift.max(now.steady, request.earliestBegin ?? now.steady)
        let isLearned = habits.observedDayCount > Self.trialDayCount
        if request.kind == .refresh, isLearned, let time = bestTime(from: earliest, at: now) {
            return Plan(time: time, reason: .habits)
        }
        return Plan(time: earliest.alignedToMinute, reason: .request)
    }

    // MARK: Due wakes

    /// The time of the next call of ``startDueWakes(at:conditions:liftsQuota:)``, by the steady clock; `nil` if
    /// nothing is planned.
    package var nextTime: Int64? {
        let pending = tasks.filter { !$0.isRunning }.map(\.plan.time)
        return ((isFetching ? [] : [fetchPlan?.time].compactMap(\.self)) + pending).min()
    }

    /// Starts the wakes that are due, and postpones those that a quota or a condition forbids.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - conditions: The state of the machine.
    ///   - liftsQuota: A Boolean value indicating whether quotas do not apply.
    /// - Returns: The wakes to carry out, each of which is to be completed or postponed.
    package mutating func startDueWakes(
        at now: ScheduleTime,
        conditions: TaskConditions,
        liftsQuota: Bool = false
    ) -> [Wake] {
        adjustToClock(at: now)
        habits.observe(untilLocal: now.local)
        var wakes: [Wake] = []
        if let plan = fetchPlan, !isFetching, plan.time <= now.steady {
            if let later = quotaEnd(at: now, liftsQuota: liftsQuota) {
                fetchPlan = Plan(time: later, reason: .quota)
            } else {
                isFetching = true
                wakes.append(.fetch)
            }
        }
        for index in tasks.indices where !tasks[index].isRunning && tasks[index].plan.time <= now.steady {
            if let plan = postponement(
                of: tasks[index].request,
                at: now,
                conditions: conditions,
                liftsQuota: liftsQuota
            ) {
                tasks[index].plan = plan
            } else {
                tasks[index].isRunning = true
                wakes.append(.task(tasks[index].request))
            }
        }
        return wakes
    }

    private func postponement(
        of request: TaskRequest,
        at now: ScheduleTime,
        conditions: TaskConditions,
        liftsQuota: Bool
    ) -> Plan? {
        if !conditions.obstacles(to: request.constraints).isEmpty {
            return Plan(time: (now.steady + .quarterHour).alignedToMinute, reason: .conditions)
        }
        return quotaEnd(at: now, liftsQuota: liftsQuota).map { Plan(time: $0, reason: .quota) }
    }

    /// The time at which the quota admits a wake again; `nil` if it does now.
    private func quotaEnd(at now: ScheduleTime, liftsQuota: Bool) -> Int64? {
        let bucket = bucket(at: now)
        let runningCount = (isFetching ? 1 : 0) + tasks.count { $0.isRunning }
        let reserved = Int64(runningCount) * Self.reservedSeconds
        guard !liftsQuota, !quota.admits(in: bucket, at: now.steady, reserving: reserved) else { return nil }
        return Swift.max(now.steady + 1, quota.nextTime(in: bucket, from: now.steady)).alignedToMinute
    }

    /// Plans again what depends on the time of day, if that was set or the zone has changed.
    private mutating func adjustToClock(at now: ScheduleTime) {
        guard abs(now.local - now.steady - clockDifference) > .minute else { return }
        clockDifference = now.local - now.steady
        if !isFetching, fetchPlan?.reason == .habits { planFetch(at: now) }
        for index in tasks.indices where !tasks[index].isRunning && tasks[index].plan.reason == .habits {
            tasks[index].plan = plan(for: tasks[index].request, at: now)
        }
    }

    /// Plans a wake that was refused or could not be started again after a pause.
    package mutating func postpone(_ wake: Wake, by seconds: Int64, at now: ScheduleTime) {
        let plan = Plan(time: (now.steady + seconds).alignedToMinute, reason: .conditions)
        switch wake {
        case .fetch: (isFetching, fetchPlan) = (false, fetchInterval == .never ? nil : plan)
        case .task(let request):
            guard let index = tasks.firstIndex(where: { $0.isRunning && $0.request == request }) else { return }
            tasks[index].isRunning = false
            tasks[index].plan = plan
        }
    }

    /// Counts a wake as under way again that an earlier supervisor has begun.
    ///
    /// - Parameters:
    ///   - kind: The kind of the request; `nil` for a fetch.
    ///   - identifier: The identifier of the request.
    /// - Returns: The wake, which is to be completed or postponed; `nil` if it is not planned.
    package mutating func resume(_ kind: TaskRequest.Kind?, identifier: String) -> Wake? {
        guard let kind else {
            isFetching = true
            return .fetch
        }
        let index = tasks.firstIndex { $0.request.identifier == identifier && $0.request.kind == kind }
        guard let index else { return nil }
        tasks[index].isRunning = true
        return .task(tasks[index].request)
    }

    /// Plans the wakes again that were under way when the supervisor ended, and are not any more.
    package mutating func restart(at now: ScheduleTime, isStillRunning: (Wake) -> Bool) {
        if isFetching, !isStillRunning(.fetch) { postpone(.fetch, by: .minute, at: now) }
        for task in tasks where task.isRunning && !isStillRunning(.task(task.request)) {
            postpone(.task(task.request), by: .minute, at: now)
        }
    }
}
