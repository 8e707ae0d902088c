import EideticLifecycle
import Testing

@Suite("A day of fifty applications", .timeLimit(.minutes(1)))
struct DayTests {
    @Test("B12 a day in a minute: quotas hold, wakes are aligned, and each application explains its next chance")
    func simulatesDay() throws {
        var generator = SeededGenerator(state: 50)
        let start = SyntheticUser.monday
        var schedules = (0..<50).map { _ in WakeSchedule(at: start) }
        let daysSinceUse = (0..<50).map { _ in Int64.random(in: 0...40, using: &generator) }
        for index in schedules.indices {
            // Used each day at an hour of its own until it was abandoned; 40 days pass before the day that counts.
            for day in 0..<(40 - daysSinceUse[index]) {
                let now = start.advanced(by: day * .day + Int64(index % 24) * .hour)
                schedules[index].recordUse(at: now)
                schedules[index].recordEndOfUse(at: now.advanced(by: 60))
            }
            let begin = start.advanced(by: 40 * .day)
            schedules[index].habits.observe(untilLocal: begin.local)
            schedules[index].setFetchInterval(.minimum, at: begin)
            try schedules[index].submit(TaskRequest(.refresh, identifier: "refresh"), at: begin)
        }
        var wakes: [(index: Int, time: Int64)] = []
        var moments = Set<Int64>()
        for minute in 0..<1_440 as Range<Int64> {
            let now = start.advanced(by: 40 * .day + minute * .minute)
            for index in schedules.indices where schedules[index].nextTime.map({ $0 <= now.steady }) ?? false {
                let bucket = schedules[index].bucket(at: now)
                let admitted = schedules[index].quota.admits(in: bucket, at: now.steady)
                let started = schedules[index].startDueWakes(at: now, conditions: TaskConditions())
                #expect(started.isEmpty || admitted)
                #expect(now.steady % 60 == 0)
                for wake in started {
                    wakes.append((index, minute))
                    moments.insert(minute)
                    // Each takes all its time, and every other one succeeds.
                    let result: WakeResult = wakes.count % 2 == 0 ? .newData : .noData
                    schedules[index].complete(wake, result: result, seconds: 30, at: now.advanced(by: 30))
                }
            }
        }
        #expect(wakes.count >= 50, "\(wakes.count)")
        #expect(moments.count * 2 < wakes.count, "\(wakes.count) wakes at \(moments.count) moments")
        let end = start.advanced(by: 41 * .day)
        for index in schedules.indices {
            let count = wakes.filter { $0.index == index }.count
            if schedules[index].bucket(at: end) == .restricted { #expect(count <= 1, "application \(index): \(count)") }
            let lines = schedules[index].explanation(at: end, conditions: TaskConditions())
            #expect(lines.contains { $0.hasPrefix("background fetch: next chance ") }, "\(lines)")
        }
    }

    @Test("B12 an explanation names the date, the time until then, and the reason")
    func explains() {
        let start = SyntheticUser.monday
        var schedule = WakeSchedule(at: start)
        schedule.setFetchInterval(.minimum, at: start)
        let lines = schedule.explanation(at: start, conditions: TaskConditions())
        #expect(
            lines == [
                "bucket: active, 20 min of 20 min left in 1 h",
                "background fetch: next chance 2026-01-05 04:00, in 4 h: the user's habits are not known yet; score 100"
                    + " of 100",
            ]
        )
    }

    @Test(
        "B12 dates are those of the Gregorian calendar",
        arguments: [(0, "1970-01-01 00:00"), (951_782_400, "2000-02-29 00:00"), (4_107_542_399, "2100-02-28 23:59")]
    )
    func formatsDates(time: Int64, text: String) { #expect(ScheduleText.date(ofLocal: time) == text) }
}
