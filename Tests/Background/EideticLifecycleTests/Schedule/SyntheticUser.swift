import EideticLifecycle

/// A user who starts an application at certain times, and the schedule that learns from it, on a virtual clock.
struct SyntheticUser {
    /// Monday, 2026-01-05, 00:00.
    static let monday = ScheduleTime(steady: 1_767_571_200, local: 1_767_571_200)

    /// The seconds of a day at which the application is started, by the number of the day.
    let starts: (Int64) -> [Int64]
    /// The result of a fetch.
    var result: (ScheduleTime) -> WakeResult = { _ in .newData }

    /// The local seconds since Monday at which fetches began.
    func fetches(inDays days: Int64, interval: FetchInterval = .minimum) -> (times: [Int64], schedule: WakeSchedule) {
        var schedule = WakeSchedule(at: Self.monday)
        schedule.setFetchInterval(interval, at: Self.monday)
        var uses = (0..<days).flatMap { day in starts(day).map { day * .day + $0 } }.sorted()[...]
        var times: [Int64] = []
        while true {
            let wake = schedule.nextTime.map { $0 - Self.monday.steady } ?? .max
            let next = min(uses.first ?? .max, wake)
            guard next < days * .day else { return (times, schedule) }
            let now = Self.monday.advanced(by: next)
            if uses.first == next {
                uses.removeFirst()
                schedule.recordUse(at: now)
                schedule.recordEndOfUse(at: now.advanced(by: 120))
                continue
            }
            for wake in schedule.startDueWakes(at: now, conditions: TaskConditions()) {
                if wake == .fetch { times.append(next) }
                schedule.complete(wake, result: result(now), seconds: 5, at: now.advanced(by: 5))
            }
        }
    }
}

/// A generator whose numbers depend on its seed alone.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
        return word ^ word >> 31
    }
}
