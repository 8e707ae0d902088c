import EideticLifecycle
import Testing

@Suite("Learned habits", .timeLimit(.minutes(1)))
struct LearningTests {
    private static let noon = 12 * Int64.hour

    @Test("B12 a user who comes at noon finds new content, in at least 8 of 10 days")
    func fetchesBeforeNoon() {
        for seed in 1...20 as ClosedRange<UInt64> {
            var generator = SeededGenerator(state: seed)
            // Up to 7 minutes after or before noon.
            let minutes = (0..<20).map { _ in Int64.random(in: -7...7, using: &generator) }
            let user = SyntheticUser { day in [Self.noon + minutes[Int(day)] * .minute] }
            let (times, _) = user.fetches(inDays: 20)
            let days = (10..<20).filter { day in
                times.contains { (day * .day + 11 * .hour + 1_800..<day * .day + Self.noon).contains($0) }
            }
            #expect(days.count >= 8, "seed \(seed): only on days \(days)")
            // It costs one fetch a day, or two if the user comes in two quarter hours.
            #expect(times.filter { $0 >= 10 * .day }.count <= 60, "seed \(seed): \(times)")
        }
    }

    @Test("B12 a shift worker finds new content before each start, on working days and weekends")
    func followsShifts() {
        let user = SyntheticUser { day in day % 7 < 5 ? [5 * .hour + 1_800, 22 * .hour] : [10 * .hour] }
        let (times, schedule) = user.fetches(inDays: 28)
        for day in 21..<28 as Range<Int64> {
            let starts = day % 7 < 5 ? [5 * .hour + 1_800, 22 * .hour] : [10 * .hour]
            for start in starts {
                let moment = day * .day + start
                #expect(times.contains { (moment - .hour..<moment).contains($0) }, "day \(day), \(start) s")
            }
        }
        #expect(schedule.habits.probability(atLocal: SyntheticUser.monday.local + 22 * .hour) > 0.9)
    }

    @Test("B12 a user without habits is served within the limits: the interval and the quota")
    func servesRandomUser() {
        var generator = SeededGenerator(state: 7)
        let starts = (0..<30).map { _ in (0..<4).map { _ in Int64.random(in: 0..<Int64.day, using: &generator) } }
        let user = SyntheticUser { starts[Int($0)] }
        let (times, _) = user.fetches(inDays: 30, interval: .seconds(2 * .hour))
        #expect(times.count >= 30)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 2 * .hour })
    }

    @Test("B12 the same events lead to the same plan")
    func isDeterministic() {
        let user = SyntheticUser { [8 * .hour + $0 % 3 * .minute, 19 * .hour] }
        let (first, second) = (user.fetches(inDays: 40), user.fetches(inDays: 40))
        #expect(first.times == second.times)
        #expect(first.schedule == second.schedule)
        #expect(!first.times.isEmpty)
    }

    @Test("B12 nothing is fetched until the application sets an interval")
    func neverByDefault() {
        let user = SyntheticUser { _ in [Self.noon] }
        #expect(user.fetches(inDays: 10, interval: .never).times.isEmpty)
    }

    @Test("B12 before habits are known, a fetch follows every four hours")
    func coldStart() {
        let user = SyntheticUser { _ in [] }
        let (times, _) = user.fetches(inDays: 3)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 4 * .hour && $1 - $0 <= 4 * .hour + 120 })
        #expect(times.count == 17)
    }

    @Test("B12 after failures in a row the pause is twice as long each time, and five hours at most")
    func pausesAfterFailures() {
        let user = SyntheticUser(starts: { _ in [] }, result: { _ in .failed })
        let (times, _) = user.fetches(inDays: 3), pauses = zip(times, times.dropFirst()).map { $1 - $0 }
        // Before the tenth failure in a row it is shorter than the four hours between all fetches.
        let expected = pauses.indices.map { Swift.max(4 * .hour, Swift.min(5 * .hour, 30 << Int64($0))) }
        #expect(zip(pauses, expected).allSatisfy { ($1...$1 + 120).contains($0) }, "\(pauses)")
        #expect(pauses.count > 11)
    }

    @Test("B12 fetches without new data are rarer, failures rarer still, and new data brings the rate back")
    func scoresResults() {
        let results: [WakeResult] = [.newData, .noData, .failed]
        let counts = results.map { result in
            SyntheticUser(starts: { _ in (0..<24 as Range<Int64>).map { $0 * Int64.hour } }, result: { _ in result })
                .fetches(inDays: 20).times.count
        }
        #expect(counts[0] > 2 * counts[1] && counts[1] >= counts[2], "\(counts)")
        var score = WakeScore()
        score.record(.noData, seconds: 0)
        #expect(score.value == 0.8)
        score.record(.failed, seconds: 0)
        #expect(score.value == 0.4 && score.backoff == 30)
        score.record(.newData, seconds: 0)
        #expect(score.value == 1 && score.backoff == 0)
    }

    @Test("B12 a setting of the clock moves the plan with the user's time of day")
    func followsClock() {
        let user = SyntheticUser { _ in [Self.noon] }
        var (_, schedule) = user.fetches(inDays: 10)
        let end = SyntheticUser.monday.advanced(by: 10 * .day)
        let planned = schedule.nextTime
        // The user has travelled three hours to the east.
        let moved = ScheduleTime(steady: end.steady, local: end.local + 3 * .hour, offset: 3 * .hour)
        let result1 = schedule.startDueWakes(at: moved, conditions: TaskConditions())
        #expect(result1.isEmpty)
        #expect(schedule.nextTime == planned.map { $0 - 3 * .hour })
    }

    @Test("B12 a start counts for its quarter hour and its kind of day, up to the last of the day", arguments: 0..<96)
    func startCounts(bin: Int64) {
        let sunday = -4 * Int64.day, start = sunday + (bin + 1) * .quarterHour - 1
        var habits = UsageHabits()
        habits.recordStart(atLocal: start)
        #expect(habits.probability(atLocal: start) == 1 && habits.observedDayCount == 1)
        #expect((0..<96).count { habits.probability(atLocal: sunday + $0 * .quarterHour) > 0 } == 1)
        habits.recordStart(atLocal: start + .day)
        habits.recordStart(atLocal: start + 2 * .day - bin * .quarterHour)
        #expect(habits.probability(atLocal: start) == 1)
        // Monday counts nine tenths of Tuesday.
        #expect(abs(habits.probability(atLocal: start + .day) - (bin == 0 ? 1 : 0.9 / 1.9)) < 1e-9)
    }
}
