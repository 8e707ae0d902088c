/// The schedule of one application's background fetches and requested tasks: a value that reads no clock.
///
/// Its host passes each event with its time, asks for the wakes that are due at ``nextTime``, and reports their
/// results. The same events lead to the same schedule.
package struct WakeSchedule: Sendable, Hashable {
    /// A wake that is due or under way.
    package enum Wake: Sendable, Hashable {
        case fetch
        case task(TaskRequest)
    }

    /// A planned time, by the steady clock, and the reason for it.
    package struct Plan: Sendable, Hashable {
        package var time: Int64
        package var reason: Reason

        package init(time: Int64, reason: Reason) {
            self.time = time
            self.reason = reason
        }
    }

    /// The reason for a planned time.
    package enum Reason: UInt8, Sendable, Hashable, CaseIterable {
        /// Too little is known of the user.
        case coldStart = 1
        /// The user is expected to start the application soon after.
        case habits
        /// The application is hardly used.
        case noHabits
        case request
        /// A failure came before.
        case backoff
        /// The quota of the application's bucket is used up.
        case quota
        /// A condition is not met.
        case conditions
    }

    /// A request that was accepted, and its state.
    package struct PendingTask: Sendable, Hashable {
        package var request: TaskRequest
        package var plan: Plan
        package var failureCount: Int
        package var isRunning: Bool

        package init(request: TaskRequest, plan: Plan, failureCount: Int = 0, isRunning: Bool = false) {
            self.request = request
            self.plan = plan
            self.failureCount = failureCount
            self.isRunning = isRunning
        }
    }

    package var fetchInterval = FetchInterval.never
    package var habits = UsageHabits()
    package var quota = WakeQuota()
    package var score = WakeScore()
    package var tasks: [PendingTask] = []
    /// The time of the last fetch, or of the first request for fetches.
    package var lastFetch: Int64?
    package var fetchPlan: Plan?
    package var isFetching = false
    /// The last time at which the application was in the foreground; at first that of its creation.
    package var lastUse: Int64
    package var isInUse = false
    /// The difference of the two clocks when the plans were made.
    package var clockDifference: Int64 = 0

    package init(at now: ScheduleTime) {
        lastUse = now.steady
        clockDifference = now.local - now.steady
    }

    // MARK: Events

    /// Records that the user has started the application, or returned to it.
    package mutating func recordUse(at now: ScheduleTime) {
        habits.recordStart(atLocal: now.local)
        isInUse = true
        lastUse = now.steady
        planFetch(at: now)
    }

    /// Records that the application has left the foreground.
    package mutating func recordEndOfUse(at now: ScheduleTime) {
        isInUse = false
        lastUse = now.steady
    }

    /// Sets the least time between two fetches.
    package mutating func setFetchInterval(_ interval: FetchInterval, at now: ScheduleTime) {
        guard interval != fetchInterval else { return }
        fetchInterval = interval
        lastFetch = lastFetch ?? now.steady
        planFetch(at: now)
    }

    /// Adds a request, in place of one with the same identifier.
    package mutating func submit(_ request: TaskRequest, at now: ScheduleTime) throws(TaskRequestError) {
        let length = request.identifier.utf8.count
        guard (1...TaskRequest.identifierLimit).contains(length) else { throw .invalidIdentifier }
        let others = tasks.filter { $0.request.identifier != request.identifier && $0.request.kind == request.kind }
        let limit = request.kind == .refresh ? TaskRequest.refreshLimit : TaskRequest.processingLimit
        guard others.filter({ !$0.isRunning }).count < limit else { throw .tooManyPendingTaskRequests }
        // One that runs is completed, and the new one follows.
        tasks.removeAll { $0.request.identifier == request.identifier && !$0.isRunning }
        tasks.append(PendingTask(request: request, plan: plan(for: request, at: now)))
    }

    /// Removes the pending requests with an identifier, or all.
    package mutating func cancel(_ identifier: String?) {
        tasks.removeAll { !$0.isRunning && (identifier == nil || $0.request.identifier == identifier) }
    }

    /// Records the result of a wake that took that many seconds.
    package mutating func complete(_ wake: Wake, result: WakeResult, seconds: Int64, at now: ScheduleTime) {
        quota.charge(seconds, at: now.steady)
        switch wake {
        case .fetch:
            isFetching = false
            lastFetch = now.steady
            score.record(result, seconds: seconds)
            planFetch(at: now)
        case .task(let request): completeTask(request, result: result, at: now)
        }
    }

    private mutating func completeTask(_ request: TaskRequest, result: WakeResult, at now: ScheduleTime) {
        guard let index = tasks.firstIndex(where: { $0.isRunning && $0.request == request }) else { return }
        var task = tasks.remove(at: index)
        let isReplaced = tasks.contains { $0.request.identifier == request.identifier }
        guard result == .failed, request.kind == .processing, !isReplaced else { return }
        task.isRunning = false
        task.failureCount += 1
        let pause = WakeScore.backoff(afterFailures: task.failureCount)
        task.plan = Plan(time: (now.steady + pause).alignedToMinute, reason: .backoff)
        tasks.append(task)
    }

    /// Charges a wake of another kind, such as a message from a server.
    package mutating func charge(seconds: Int64, at now: ScheduleTime) { quota.charge(seconds, at: now.steady) }

    /// Explains each planned wake: its next chance, and the reason for it.
    package func explanation(at now: ScheduleTime, conditions: TaskConditions) -> [String] {
        var lines = [quotaLine(at: now)]
        switch fetchInterval {
        case .never: lines.append("background fetch: never, as the application has set no interval")
        default: lines.append("background fetch: \(isFetching ? "under way" : line(for: fetchPlan, at: now))")
        }
        lines[1] += fetchInterval == .never ? "" : "; score \(Self.percent(score.value)) of 100"
        for task in tasks {
            let kind = task.request.kind == .refresh ? "refresh" : "processing"
            let obstacles = conditions.obstacles(to: task.request.constraints)
            let plan = task.isRunning ? "under way" : line(for: task.plan, at: now)
            let missing = obstacles.isEmpty ? "" : "; now \(obstacles.joined(separator: " and "))"
            lines.append("\(kind) request \(task.request.identifier): \(plan)\(missing)")
        }
        return lines
    }

    private func quotaLine(at now: ScheduleTime) -> String {
        let bucket = bucket(at: now)
        let left = quota.remaining(in: bucket, at: now.steady)
        return "bucket: \(bucket), \(ScheduleText.duration(left)) of \(ScheduleText.duration(bucket.quota)) left"
            + " in \(ScheduleText.duration(bucket.window))"
    }

    private func line(for plan: Plan?, at now: ScheduleTime) -> String {
        guard let plan else { return "not planned" }
        let local = plan.time - now.steady + now.local
        let date = "next chance \(ScheduleText.date(ofLocal: local))"
        return "\(date), in \(ScheduleText.duration(plan.time - now.steady)): \(explanation(of: plan, local: local))"
    }

    private func explanation(of plan: Plan, local: Int64) -> String {
        switch plan.reason {
        case .coldStart: "the user's habits are not known yet"
        case .habits: "the user is expected after it, utility \(Self.percent(habits.utility(atLocal: local))) of 100"
        case .noHabits: "the user hardly uses the application"
        case .request: "the time that was asked for"
        case .backoff: "a pause after a failure"
        case .quota: "the quota of the application is used up until then"
        case .conditions: "a condition was not met at the last chance"
        }
    }

    private static func percent(_ share: Double) -> Int { Int((share * 100).rounded()) }
}
