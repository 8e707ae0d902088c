import EideticBackground
import Testing

@Suite("Running time")
struct RunningTimeTests {
    @Test("B03 a wait that is at most 100 ms longer than planned counts whole, a longer one counts as planned")
    func wait() {
        for (passed, counted) in [(5.0, 5.0), (5.1, 5.1), (5.101, 5), (500, 5), (1, 1)] {
            var time = RunningTime(at: .seconds(1_000))
            time.plan(.seconds(5))
            time.advance(to: .seconds(1_000) + .milliseconds(Int(passed * 1_000)))
            #expect(time.now == .seconds(1_000) + .milliseconds(Int(counted * 1_000)), "\(passed)")
            #expect(time.lost == .milliseconds(Int(passed * 1_000)) - .milliseconds(Int(counted * 1_000)))
        }
    }

    @Test("B03 without a wait at most 100 ms are counted, and a known stop not at all")
    func work() {
        var time = RunningTime(at: .seconds(1_000))
        time.advance(to: .milliseconds(1_000_100))
        #expect(time.now == .milliseconds(1_000_100))
        time.advance(to: .milliseconds(1_000_201))
        #expect(time.now == .milliseconds(1_000_100))
        time.plan(.seconds(100))
        time.skip(to: .seconds(1_050))
        #expect(time.now == .milliseconds(1_000_100))
        time.advance(to: .seconds(1_051))
        #expect(time.now == .milliseconds(1_000_100))
    }

    @Test("B03 a plan in the past, and a clock that goes back, count nothing")
    func bounds() {
        var time = RunningTime(at: .seconds(1_000))
        time.plan(.seconds(-1_000))
        time.advance(to: .seconds(1_010))
        time.advance(to: .seconds(900))
        #expect(time.now == .seconds(1_000))
        time.advance(to: .milliseconds(1_010_050))
        #expect(time.now == .milliseconds(1_000_050))
    }

    @Test("B03 a wait is short while a callback runs, longer for a budget, and 10 s if nothing is open")
    func waits() {
        func wait(_ remaining: Duration, strict: Bool = false, idle: Bool = false) -> Duration {
            RunningTime.longestWait(before: remaining, isStrict: strict, isIdle: idle)
        }
        #expect(wait(.seconds(5), strict: true) == .milliseconds(50))
        #expect(wait(.milliseconds(49), strict: true) == .milliseconds(49))
        #expect(wait(.seconds(5)) == .milliseconds(500))
        #expect(wait(.seconds(600)) == .seconds(1))
        #expect(wait(.seconds(600), idle: true) == .seconds(10))
        #expect(wait(.seconds(50), idle: true) == .seconds(5))
        #expect(wait(.milliseconds(100)) == .milliseconds(50))
        #expect(wait(.seconds(-1)) == .zero)
    }
}
