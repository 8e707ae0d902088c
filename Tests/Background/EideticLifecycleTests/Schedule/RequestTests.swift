import EideticLifecycle
import Testing

@Suite("Requests for background time")
struct RequestTests {
    private let start = SyntheticUser.monday

    private func processing(_ identifier: String) -> TaskRequest { TaskRequest(.processing, identifier: identifier) }

    @Test("B12 ten processing requests and one refresh can be pending; another one is refused")
    func limitsRequests() throws {
        var schedule = WakeSchedule(at: start)
        for number in 1...10 { try schedule.submit(processing("p\(number)"), at: start) }
        do throws(TaskRequestError) {
            try schedule.submit(processing("p11"), at: start)
            Issue.record("accepted")
        } catch { #expect(error == .tooManyPendingTaskRequests) }
        // One with the same identifier takes the place of the earlier one.
        try schedule.submit(processing("p10"), at: start)
        #expect(schedule.tasks.count == 10)
        try schedule.submit(TaskRequest(.refresh, identifier: "r"), at: start)
        do throws(TaskRequestError) {
            try schedule.submit(TaskRequest(.refresh, identifier: "s"), at: start)
            Issue.record("accepted")
        } catch { #expect(error == .tooManyPendingTaskRequests) }
        schedule.cancel("p1")
        try schedule.submit(processing("p11"), at: start)
    }

    @Test("B12 identifiers have 1 to 255 bytes", arguments: [(0, false), (1, true), (255, true), (256, false)])
    func checksIdentifiers(length: Int, isAccepted: Bool) {
        var schedule = WakeSchedule(at: start)
        let request = processing(String(repeating: "x", count: length))
        let isSubmitted = (try? schedule.submit(request, at: start)) != nil
        #expect(isSubmitted == isAccepted)
    }

    @Test("B12 a request does not start before its time")
    func waitsForTime() throws {
        var schedule = WakeSchedule(at: start)
        var request = processing("later")
        request.earliestBegin = start.steady + 100
        try schedule.submit(request, at: start)
        // On the grid of minutes.
        #expect(schedule.nextTime == start.steady + 120)
        let result1 = schedule.startDueWakes(at: start.advanced(by: 119), conditions: TaskConditions())
        #expect(result1.isEmpty)
        let result2 = schedule.startDueWakes(at: start.advanced(by: 120), conditions: TaskConditions())
        #expect(result2 == [.task(request)])
    }

    @Test("B12 processing waits for its conditions, and says for which")
    func waitsForConditions() throws {
        var schedule = WakeSchedule(at: start)
        var request = processing("index")
        (request.constraints.needsNetwork, request.constraints.needsExternalPower) = (true, true)
        request.constraints.needsIdle = true
        try schedule.submit(request, at: start)
        var conditions = TaskConditions()
        (conditions.isOnExternalPower, conditions.isIdle) = (false, false)
        let result3 = schedule.startDueWakes(at: start, conditions: conditions)
        #expect(result3.isEmpty)
        let lines = schedule.explanation(at: start, conditions: conditions)
        #expect(lines.contains { $0.contains("there is no external power and the machine is in use") }, "\(lines)")
        let later = start.advanced(by: .quarterHour)
        #expect(schedule.nextTime == later.steady)
        let result4 = schedule.startDueWakes(at: later, conditions: TaskConditions())
        #expect(result4 == [.task(request)])
    }

    @Test("B12 failed processing is tried again after 30 s, doubled each time, and at most after 5 h")
    func backsOff() throws {
        var schedule = WakeSchedule(at: start)
        let request = processing("upload")
        try schedule.submit(request, at: start)
        var (now, pauses): (ScheduleTime, [Int64]) = (start, [])
        for _ in 0..<12 {
            _ = schedule.startDueWakes(at: now, conditions: TaskConditions(), liftsQuota: true)
            schedule.complete(.task(request), result: .failed, seconds: 0, at: now)
            let next = try #require(schedule.nextTime)
            pauses.append(next - now.steady)
            now = now.advanced(by: next - now.steady)
        }
        #expect(pauses == [60, 60, 120, 240, 480, 960, 1_920, 3_840, 7_680, 15_360, 18_000, 18_000])
        _ = schedule.startDueWakes(at: now, conditions: TaskConditions(), liftsQuota: true)
        schedule.complete(.task(request), result: .newData, seconds: 1, at: now)
        #expect(schedule.nextTime == nil)
    }

    @Test("B12 the time of wakes is limited by the application's last use", arguments: StandbyBucket.allCases)
    func limitsTime(bucket: StandbyBucket) {
        var quota = WakeQuota()
        let start = self.start.steady
        var now = start
        while quota.admits(in: bucket, at: now) {
            quota.charge(30, at: now)
            now += 60
        }
        let used = quota.charges.reduce(0) { $0 + $1.seconds }
        #expect(used == bucket.quota)
        let next = quota.nextTime(in: bucket, from: now)
        #expect(!quota.admits(in: bucket, at: next - 61) && quota.admits(in: bucket, at: next))
        #expect(next - start <= bucket.window + 120)
    }

    @Test("B13 three silent messages an hour are admitted, and three at once; the newest waits")
    func throttlesMessages() throws {
        var throttle = PushThrottle()
        for number in 1...3 as ClosedRange<UInt8> {
            let admitted = throttle.admit([number], at: 0)
            #expect(admitted == [number])
        }
        let result5 = throttle.admit([4], at: 0)
        #expect(result5 == nil)
        let result6 = throttle.admit([5], at: 10)
        #expect(result6 == nil)
        #expect(throttle.nextTime == 1_200)
        let result7 = throttle.takeWaiting(at: 1_199)
        #expect(result7 == nil)
        let result8 = throttle.takeWaiting(at: 1_200)
        #expect(result8 == [5])
        #expect(throttle.nextTime == nil)
    }
}
