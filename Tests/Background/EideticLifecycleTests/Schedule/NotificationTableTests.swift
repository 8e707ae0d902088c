import EideticLifecycle
import Testing

@Suite("The table of local notifications")
struct NotificationTableTests {
    private let start = SyntheticUser.monday

    private func request(_ identifier: String, _ trigger: NotificationRequest.Trigger) -> NotificationRequest {
        var request = NotificationRequest(identifier: identifier, content: NotificationRequest.Content())
        request.trigger = trigger
        return request
    }

    @Test("B11 of 200 notifications the soonest 64 are armed, and none is lost")
    func keepsAll() {
        var table = NotificationTable()
        var generator = SeededGenerator(state: 200)
        let numbers = Array(1...200 as ClosedRange<Int64>).shuffled(using: &generator)
        for number in numbers {
            let result1 = table.add(request("n\(number)", .interval(number * 60, repeats: false)), at: start)
            #expect(result1)
        }
        #expect(table.armed(at: start).map(\.request.identifier) == (1...64).map { "n\($0)" })
        var shown: [String] = []
        var now = start
        while let delay = table.nextDelays(at: now).steady {
            now = now.advanced(by: delay)
            shown += table.takeDue(at: now).map(\.request.identifier)
        }
        #expect(shown == (1...200).map { "n\($0)" })
    }

    @Test("B11 a notification with the same identifier replaces the earlier one")
    func replaces() {
        var table = NotificationTable()
        let result2 = table.add(request("a", .interval(60, repeats: false)), at: start)
        #expect(result2)
        let result3 = table.add(request("a", .interval(120, repeats: false)), at: start)
        #expect(result3)
        #expect(table.pending.count == 1 && table.nextDelays(at: start).steady == 120)
        let result4 = table.takeDue(at: start.advanced(by: 60))
        #expect(result4.isEmpty)
    }

    @Test("B11 one that was missed comes once, with its date")
    func deliversMissedOnce() {
        var table = NotificationTable()
        let result5 = table.add(request("hourly", .interval(.hour, repeats: true)), at: start)
        #expect(result5)
        let result6 = table.add(request("date", .date(start.universal + .hour)), at: start)
        #expect(result6)
        let result7 = table.add(request("daily", .daily(second: 9 * .hour, weekday: nil)), at: start)
        #expect(result7)
        let now = start.advanced(by: 3 * .day + 12 * .hour + 1)
        let due = table.takeDue(at: now)
        #expect(due.map(\.request.identifier) == ["hourly", "date", "daily"])
        #expect(due.map(\.date) == [start.local + .hour, start.local + .hour, start.local + 9 * .hour])
        #expect(due.allSatisfy { $0.isLate })
        let result8 = table.takeDue(at: now)
        #expect(result8.isEmpty)
        #expect(table.nextDelays(at: now).steady == .hour - 1)
        #expect(table.nextDelays(at: now).wall == 21 * .hour - 1)
    }

    @Test("B11 a clock that jumps moves the times of day, and no interval")
    func followsClock() {
        var table = NotificationTable()
        let result9 = table.add(request("date", .date(start.universal + .hour)), at: start)
        #expect(result9)
        let result10 = table.add(request("interval", .interval(.hour, repeats: false)), at: start)
        #expect(result10)
        let forward = ScheduleTime(steady: start.steady + 60, local: start.local + .hour)
        let result11 = table.takeDue(at: forward)
        #expect(result11.map(\.request.identifier) == ["date"])
        #expect(table.nextDelays(at: forward).steady == .hour - 60)
        // Back by two days: a daily one comes at the next nine o'clock that the user sees.
        let result12 = table.add(request("daily", .daily(second: 9 * .hour, weekday: nil)), at: start)
        #expect(result12)
        let back = ScheduleTime(steady: start.steady + 120, local: start.local - 2 * .day)
        let result13 = table.takeDue(at: back)
        #expect(result13.isEmpty)
        #expect(table.nextDelays(at: back).wall == 9 * .hour)
    }

    @Test("B11 a weekday comes once a week", arguments: 0..<7 as Range<UInt8>)
    func followsWeekdays(weekday: UInt8) {
        var table = NotificationTable()
        let result14 = table.add(request("w", .daily(second: 60, weekday: weekday)), at: start)
        #expect(result14)
        var now = start
        var times: [Int64] = []
        for _ in 0..<3 {
            now = now.advanced(by: table.nextDelays(at: now).wall ?? 0)
            let result15 = table.takeDue(at: now)
            #expect(result15.count == 1)
            times.append(now.local)
        }
        #expect(times[1] - times[0] == 7 * .day && times[2] - times[1] == 7 * .day)
        // The start is a Monday.
        #expect(times[0] - start.local == (Int64(weekday) + 6) % 7 * .day + 60)
    }

    @Test(
        "B11 a request out of range is refused with the reason",
        arguments: [
            (NotificationRequest.Trigger.interval(59, repeats: true), false), (.interval(60, repeats: true), true),
            (.interval(0, repeats: false), false), (.interval(1, repeats: false), true),
            (.daily(second: 86_399, weekday: 6), true), (.daily(second: 86_400, weekday: nil), false),
            (.daily(second: 0, weekday: 7), false), (.date(-1), false), (.date(0), true),
        ]
    )
    func checksRequests(trigger: NotificationRequest.Trigger, isAccepted: Bool) {
        #expect((request("a", trigger).fault == nil) == isAccepted)
    }
}
