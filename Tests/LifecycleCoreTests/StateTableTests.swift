import LifecycleCore
import Testing

@Suite("The table of states, with a virtual clock")
struct StateTableTests {
    @Test("B02 each row leads to its state, with its effects in order", arguments: Transition.all)
    func transition(_ row: Transition) {
        var played = LifecycleDriver(rules: row.rules)
        played.run(row.setup + row.steps)
        #expect(played.lifecycle.state == row.expectedState)
        let expected = row.expectedEffects(played.now)
        #expect(played.effects.filter(expected.contains) == expected, "got \(played.effects)")
    }

    @Test("B04 what ends between expiry and the limit is not killed, and nothing is told twice")
    func endsInTime() {
        var played = LifecycleDriver()
        played.run(Path.expiring + [.after(.seconds(4), event: .openTaskCountChanged(0)), .after(.seconds(2))])
        #expect(!played.effects.contains { if case .killProcess = $0 { true } else { false } })
        #expect(played.lifecycle.state != .notRunning)
    }

    @Test("B03 a glance at the foreground does not refill the budget, a stay of 5 s does", arguments: [4, 5])
    func refill(seconds: Int) {
        var played = LifecycleDriver()
        let away: [Step] = [.now(.enterForeground), .acknowledge(.willEnterForeground), .acknowledge(.didBecomeActive)]
        played.run(Path.background + [.after(.seconds(400), event: .openTaskCountChanged(1))] + away)
        played.run([
            .after(.seconds(seconds), event: .enterBackground), .acknowledge(.willResignActive),
            .acknowledge(.didEnterBackground),
        ])
        let left: Duration = seconds < 5 ? .seconds(200) : .seconds(600)
        #expect(played.lifecycle.nextDeadline == played.now + left)
    }

    @Test("B01 time in which it is frozen is not charged")
    func frozenTimeIsFree() {
        var played = LifecycleDriver()
        played.run(
            Path.background + [.after(.seconds(100), event: .openTaskCountChanged(0)), .after(.milliseconds(250))]
        )
        played.run([.now(.processFrozen(openTasks: 0, blocksOthers: false))])
        #expect(played.lifecycle.nextDeadline == nil)
        played.run([.after(.seconds(10_000), event: .resumeInBackground), .now(.openTaskCountChanged(1))])
        #expect(played.lifecycle.nextDeadline == played.now + .seconds(499.75))
    }

    @Test("B17 a stop that takes time is announced once a second, and no longer than it lasts")
    func extendsStop() {
        var played = LifecycleDriver()
        played.run(Path.background + [.now(.terminate(grace: .seconds(25)))])
        var said = 0
        while let deadline = played.lifecycle.nextDeadline {
            played.run([.after(deadline - played.now)])
            said += played.effects.count { $0 == .extendStopTimeout(by: .seconds(2)) }
        }
        #expect(said == 29)
        #expect(played.effects == [.killProcess(.backgroundTask)])
    }

    @Test("B19 sleep waits for open tasks, expires them in time, and kills nobody")
    func sleep() {
        var played = LifecycleDriver()
        played.run(Path.active + [.now(.openTaskCountChanged(1)), .now(.systemWillSleep(within: .seconds(4.5)))])
        played.run([.acknowledge(.willResignActive), .acknowledge(.didEnterBackground)])
        #expect(played.effects == [.saveArchive])
        played.run([.after(.seconds(2.25))])
        #expect(played.effects.contains(.expireTasks(deadline: .seconds(104.5))))
        played.run([.after(.seconds(2.25))])
        #expect(played.effects == [.releaseSleepInhibitor])
        played.run([.after(.seconds(3_600))])
        #expect(played.effects.isEmpty)
        played.run([.now(.systemDidWake)])
        #expect(played.effects.first == .acquireSleepInhibitor)
        played.run([.acknowledge(.willEnterForeground), .acknowledge(.didBecomeActive)])
        #expect(played.lifecycle.state == .active)
    }

    @Test("B19 without open tasks the machine may sleep as soon as the callbacks are through")
    func sleepAtOnce() {
        var played = LifecycleDriver()
        played.run(Path.active + [.now(.systemWillSleep(within: .seconds(4.5))), .acknowledge(.willResignActive)])
        #expect(!played.effects.contains(.releaseSleepInhibitor))
        played.run([.acknowledge(.didEnterBackground)])
        #expect(played.effects == [.saveArchive, .releaseSleepInhibitor])
    }

    @Test("B19 B20 a screen that is locked while the machine sleeps is found locked when it wakes")
    func lockedDuringSleep() {
        var played = LifecycleDriver()
        played.run(Path.active + [.now(.systemWillSleep(within: .seconds(4.5))), .acknowledge(.willResignActive)])
        played.run([
            .acknowledge(.didEnterBackground), .now(.deactivate), .now(.systemDidWake),
            .acknowledge(.willEnterForeground),
        ])
        #expect(played.lifecycle.state == .inactive)
        played.run([.now(.activate), .acknowledge(.didBecomeActive)])
        #expect(played.lifecycle.state == .active)
    }

    @Test("B19 who is brought to the foreground while the machine falls asleep does not keep it awake")
    func shownDuringSleep() {
        var played = LifecycleDriver()
        played.run(Path.background + [.now(.openTaskCountChanged(0)), .now(.systemWillSleep(within: .seconds(4.5)))])
        #expect(played.effects.contains(.releaseSleepInhibitor))
        played.run([.now(.enterForeground)])
        #expect(played.effects.isEmpty)
        played.run([.now(.systemDidWake), .acknowledge(.willEnterForeground), .acknowledge(.didBecomeActive)])
        #expect(played.lifecycle.state == .active)
    }

    @Test("B07 a level of memory pressure is told at most once in 5 s")
    func warnings() {
        var played = LifecycleDriver()
        played.run(
            Path.active + [.now(.memoryWarning(level: 1)), .after(.seconds(4.9), event: .memoryWarning(level: 1))]
        )
        #expect(played.effects.isEmpty)
        played.run([.now(.memoryWarning(level: 2))])
        #expect(played.effects == [.deliverMemoryWarning(level: 2)])
        played.run([.after(.seconds(0.1), event: .memoryWarning(level: 1))])
        #expect(played.effects == [.deliverMemoryWarning(level: 1)])
    }

    @Test("B06 nothing may begin once willTerminate is on its way")
    func terminatingAdmitsNothing() {
        let admitting: [TaskPhase] = [.foreground, .background]
        for phase in [TaskPhase.foreground, .background, .expiring, .terminating] {
            #expect(phase.admitsTasks == admitting.contains(phase))
        }
    }
}
