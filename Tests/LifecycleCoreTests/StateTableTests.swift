import LifecycleCore
import Testing

@Suite("The table of states, with a virtual clock")
struct StateTableTests {
    @Test("B02 each row leads to its state, with its effects in order", arguments: Row.all)
    func row(_ row: Row) {
        var played = Played(rules: row.rules)
        played.play(row.given + row.steps)
        #expect(played.lifecycle.stage == row.stage)
        let expected = row.effects(played.now)
        #expect(played.effects.filter(expected.contains) == expected, "got \(played.effects)")
    }

    @Test("B04 what ends between expiry and the limit is not killed, and nothing is told twice")
    func endsInTime() {
        var played = Played()
        played.play(Way.expiring + [.after(.seconds(4), .tasks(0)), .after(.seconds(2))])
        #expect(!played.effects.contains { if case .kill = $0 { true } else { false } })
        #expect(played.lifecycle.stage != .notRunning)
    }

    @Test("B03 a glance at the foreground does not refill the budget, a stay of 5 s does", arguments: [4, 5])
    func refill(seconds: Int) {
        var played = Played()
        let away: [Step] = [.now(.enterForeground), .ack(.willEnterForeground), .ack(.didBecomeActive)]
        played.play(Way.background + [.after(.seconds(400), .tasks(1))] + away)
        played.play([.after(.seconds(seconds), .enterBackground), .ack(.willResignActive), .ack(.didEnterBackground)])
        let left: Duration = seconds < 5 ? .seconds(200) : .seconds(600)
        #expect(played.lifecycle.nextDeadline == played.now + left)
    }

    @Test("B01 time in which it is frozen is not charged")
    func frozenTimeIsFree() {
        var played = Played()
        played.play(Way.background + [.after(.seconds(100), .tasks(0)), .after(.milliseconds(250))])
        played.play([.now(.frozen(openTasks: 0, blocksOthers: false))])
        #expect(played.lifecycle.nextDeadline == nil)
        played.play([.after(.seconds(10_000), .continueInBackground), .now(.tasks(1))])
        #expect(played.lifecycle.nextDeadline == played.now + .seconds(499.75))
    }

    @Test("B17 a stop that takes time is announced once a second, and no longer than it lasts")
    func extendsStop() {
        var played = Played()
        played.play(Way.background + [.now(.terminate(grace: .seconds(25)))])
        var said = 0
        while let deadline = played.lifecycle.nextDeadline {
            played.play([.after(deadline - played.now)])
            said += played.effects.count { $0 == .extendStop(by: .seconds(2)) }
        }
        #expect(said == 29)
        #expect(played.effects == [.kill(.backgroundTask)])
    }

    @Test("B19 sleep waits for open tasks, expires them in time, and kills nobody")
    func sleep() {
        var played = Played()
        played.play(Way.active + [.now(.tasks(1)), .now(.sleepAnnounced(within: .seconds(4.5)))])
        played.play([.ack(.willResignActive), .ack(.didEnterBackground)])
        #expect(played.effects == [.saveArchive])
        played.play([.after(.seconds(2.25))])
        #expect(played.effects.contains(.expireTasks(deadline: .seconds(104.5))))
        played.play([.after(.seconds(2.25))])
        #expect(played.effects == [.releaseSleep])
        played.play([.after(.seconds(3_600))])
        #expect(played.effects.isEmpty)
        played.play([.now(.awoke)])
        #expect(played.effects.first == .holdSleep)
        played.play([.ack(.willEnterForeground), .ack(.didBecomeActive)])
        #expect(played.lifecycle.stage == .active)
    }

    @Test("B19 without open tasks the machine may sleep as soon as the callbacks are through")
    func sleepAtOnce() {
        var played = Played()
        played.play(Way.active + [.now(.sleepAnnounced(within: .seconds(4.5))), .ack(.willResignActive)])
        #expect(!played.effects.contains(.releaseSleep))
        played.play([.ack(.didEnterBackground)])
        #expect(played.effects == [.saveArchive, .releaseSleep])
    }

    @Test("B19 B20 a screen that is locked while the machine sleeps is found locked when it wakes")
    func lockedDuringSleep() {
        var played = Played()
        played.play(Way.active + [.now(.sleepAnnounced(within: .seconds(4.5))), .ack(.willResignActive)])
        played.play([.ack(.didEnterBackground), .now(.deactivate), .now(.awoke), .ack(.willEnterForeground)])
        #expect(played.lifecycle.stage == .inactive)
        played.play([.now(.activate), .ack(.didBecomeActive)])
        #expect(played.lifecycle.stage == .active)
    }

    @Test("B19 who is brought to the foreground while the machine falls asleep does not keep it awake")
    func shownDuringSleep() {
        var played = Played()
        played.play(Way.background + [.now(.tasks(0)), .now(.sleepAnnounced(within: .seconds(4.5)))])
        #expect(played.effects.contains(.releaseSleep))
        played.play([.now(.enterForeground)])
        #expect(played.effects.isEmpty)
        played.play([.now(.awoke), .ack(.willEnterForeground), .ack(.didBecomeActive)])
        #expect(played.lifecycle.stage == .active)
    }

    @Test("B07 a level of memory pressure is told at most once in 5 s")
    func warnings() {
        var played = Played()
        played.play(Way.active + [.now(.memoryWarning(level: 1)), .after(.seconds(4.9), .memoryWarning(level: 1))])
        #expect(played.effects.isEmpty)
        played.play([.now(.memoryWarning(level: 2))])
        #expect(played.effects == [.memoryWarning(level: 2)])
        played.play([.after(.seconds(0.1), .memoryWarning(level: 1))])
        #expect(played.effects == [.memoryWarning(level: 1)])
    }

    @Test("B06 nothing may begin once willTerminate is on its way")
    func terminatingAdmitsNothing() {
        let admitting: [TaskPhase] = [.foreground, .background]
        for phase in [TaskPhase.foreground, .background, .expiring, .terminating] {
            #expect(phase.admits == admitting.contains(phase))
        }
    }
}
