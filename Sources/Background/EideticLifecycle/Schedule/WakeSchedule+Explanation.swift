// The answers to "why not yet".
extension WakeSchedule {
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
