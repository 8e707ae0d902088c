import EideticLifecycle
import Testing

@Suite("Progress of work")
struct ProgressTests {
    @Test(
        "B10 reports are sent once a second for any total, and the last one is never lost",
        arguments: [0, 10, 1_000_000] as [UInt64]
    )
    func throttled(total: UInt64) {
        var throttle = WorkProgressThrottle(interval: .seconds(1)), sent: [UInt64] = [], delayed: Duration?
        for step in 0..<1_000 as Range<UInt64> {
            let now: Duration = .milliseconds(10 * step)
            if let time = delayed, time <= now, let report = throttle.takeDelayed(at: now) {
                sent.append(report.completed)
                delayed = nil
            }
            switch throttle.record(WorkProgress(completed: step, total: total), at: now) {
            case .send: sent.append(step)
            case .delay(let delay): delayed = now + delay
            case .ignore: break
            }
        }
        #expect(sent.count == 10)
        #expect(throttle.takeDelayed(at: .seconds(10))?.completed == 999)
    }

    @Test("B10 the same report, and one after the end, is not sent")
    func ignored() {
        var throttle = WorkProgressThrottle(interval: .seconds(1))
        let done = WorkProgress(completed: 10, total: 10)
        #expect(throttle.record(done, at: .zero) == .send)
        #expect(throttle.record(done, at: .seconds(5)) == .ignore)
        #expect(
            throttle.record(WorkProgress(completed: 1, total: 9), at: .milliseconds(400)) == .delay(.milliseconds(600))
        )
        throttle.end()
        #expect(throttle.takeDelayed(at: .seconds(1)) == nil)
        #expect(throttle.record(WorkProgress(completed: 2, total: 9), at: .seconds(9)) == .ignore)
    }

    @Test("B10 more units are progress, and so is another total, with which the next part begins")
    func parts() {
        var progress = WorkProgress()
        #expect(progress.record(WorkProgress(completed: 100, total: 100)) && progress.percent == 100)
        #expect(!progress.record(WorkProgress(completed: 90, total: 100)) && progress.percent == 100)
        #expect(progress.record(WorkProgress(completed: 0, total: 1_000)) && progress.percent == 0)
        #expect(progress.record(WorkProgress(completed: 10, total: 1_000)) && progress.percent == 1)
        #expect(progress.record(WorkProgress(completed: 5, total: 0)) && progress.percent == 0)
    }
}

@Suite("Data that an application does not read")
struct UnreadDataPausesTests {
    @Test("B10 it is woken for unread data after 10 s, 20 s, 40 s and so on, at most 10 min; for other data at once")
    func pauses() {
        var pauses = UnreadDataPauses(first: .seconds(10)), now: Duration = .zero
        #expect(!pauses.isExpectingData)
        #expect(pauses.admit([1], at: now) == nil && pauses.isExpectingData)
        for pause in [10, 20, 40, 80, 160, 320, 600, 600] {
            #expect(pauses.admit([1], at: now) == now + .seconds(pause))
            now += .seconds(pause)
            #expect(pauses.admit([1], at: now) == nil)
        }
        #expect(pauses.admit([1, 2], at: now) == nil)
        #expect(pauses.admit([1, 2], at: now) == now + .seconds(10))
    }

    @Test("B10 data that was read in between is other data, although it has the same bytes")
    func read() {
        var pauses = UnreadDataPauses(first: .seconds(10))
        #expect(pauses.admit([1], at: .zero) == nil)
        pauses.observe([1])
        #expect(pauses.admit([1], at: .seconds(1)) == .seconds(10))
        pauses.observe([])
        #expect(pauses.admit([1], at: .seconds(2)) == nil)
    }
}
