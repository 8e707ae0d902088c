import EideticLifecycle
import Testing

@Suite("State table")
struct StateTableTests {
    @Test("B02 each transition leads to its state, with its effects in order", arguments: Transition.all)
    func transition(_ transition: Transition) {
        var driver = LifecycleDriver(rules: transition.rules)
        driver.run(transition.setup + transition.steps)
        #expect(driver.lifecycle.state == transition.expectedState)
        let expected = transition.expectedEffects(driver.now)
        #expect(driver.effects.filter(expected.contains) == expected, "got \(driver.effects)")
    }

    @Test("B04 a process whose tasks end within the expiration limit is not killed")
    func endsInTime() {
        var driver = LifecycleDriver()
        driver.run(Path.expiring + [.after(.seconds(4), event: .openTaskCountChanged(0)), .after(.seconds(2))])
        #expect(!driver.effects.contains { if case .killProcess = $0 { true } else { false } })
        #expect(driver.lifecycle.state != .notRunning)
    }

    @Test("B03 a stay of 5 s in the foreground restores background time, a shorter one does not", arguments: [4, 5])
    func refill(seconds: Int) {
        var driver = LifecycleDriver()
        let visit: [Step] = [
            .now(.enterForeground), .acknowledge(.willEnterForeground), .acknowledge(.didBecomeActive),
        ]
        driver.run(Path.background + [.after(.seconds(400), event: .openTaskCountChanged(1))] + visit)
        driver.run([
            .after(.seconds(seconds), event: .enterBackground), .acknowledge(.willResignActive),
            .acknowledge(.didEnterBackground),
        ])
        let left: Duration = seconds < 5 ? .seconds(200) : .seconds(600)
        #expect(driver.lifecycle.nextDeadline == driver.now + left)
    }

    @Test("B03 without a limit background time ends only with a request to end or to stop, or a sleep")
    func endlessBudget() {
        for (event, end) in [
            (LifecycleEvent.terminate(grace: .seconds(25)), Duration.seconds(25)),
            (.suspend(within: .seconds(5)), .seconds(5)), (.systemWillSleep(within: .seconds(4)), .seconds(2)),
        ] {
            var driver = LifecycleDriver(rules: Transition.rules { $0.backgroundBudget = nil })
            driver.run(Path.background)
            #expect(driver.lifecycle.nextDeadline == nil)
            driver.run([.after(.seconds(1_000_000), event: event)])
            #expect(driver.effects.contains(.setTaskPhase(.background, deadline: driver.now + end)), "\(event)")
            driver.run([.after(end)])
            #expect(driver.effects.contains { if case .expireTasks = $0 { true } else { false } }, "\(event)")
        }
    }

    @Test("B17 a job that is continued after its tasks expired has background time again", arguments: [true, false])
    func continuedAfterExpiry(isSeen: Bool) {
        var driver = LifecycleDriver(rules: Transition.rules { $0.backgroundBudget = nil })
        driver.run(Path.background + [.now(.suspend(within: .seconds(5))), .after(.seconds(5))])
        driver.run([.now(isSeen ? .resumeInForeground : .resumeInBackground)])
        // The window itself was hidden before.
        #expect(driver.effects == [.setTaskPhase(.background, deadline: nil)])
        #expect(driver.lifecycle.state == .background && driver.lifecycle.nextDeadline == nil)
    }

    @Test("B01 frozen time does not count as background time")
    func frozenTimeIsFree() {
        var driver = LifecycleDriver()
        driver.run(
            Path.background + [.after(.seconds(100), event: .openTaskCountChanged(0)), .after(.milliseconds(250))]
        )
        driver.run([.now(.processFrozen(openTasks: 0, blocksOthers: false))])
        #expect(driver.lifecycle.nextDeadline == nil)
        driver.run([.after(.seconds(10_000), event: .resumeInBackground), .now(.openTaskCountChanged(1))])
        #expect(driver.lifecycle.nextDeadline == driver.now + .seconds(499.75))
    }

    @Test("B17 the stop timeout is extended once per second until the process ends")
    func extendsStop() {
        var driver = LifecycleDriver()
        driver.run(Path.background + [.now(.terminate(grace: .seconds(25)))])
        var extensionCount = 0
        while let deadline = driver.lifecycle.nextDeadline {
            driver.run([.after(deadline - driver.now)])
            extensionCount += driver.effects.count { $0 == .extendStopTimeout(by: .seconds(2)) }
        }
        #expect(extensionCount == 29)
        #expect(driver.effects == [.killProcess(.backgroundTask)])
    }

    @Test("B17 the stop timeout is extended also at the moment at which a wake is overdue")
    func extensionWithOverdueWake() {
        var driver = LifecycleDriver()
        driver.run(Path.background + [.now(.wake(fetchWake, allowance: .seconds(60)))])
        driver.run([.after(.seconds(29), event: .terminate(grace: .seconds(25))), .after(.seconds(1))])
        #expect(driver.effects.contains(.penalizeWake(fetchWake)))
        #expect(driver.effects.contains(.extendStopTimeout(by: .seconds(2))))
    }

    @Test("B19 sleep waits for open tasks, expires them in time, and does not kill the process")
    func sleep() {
        var driver = LifecycleDriver()
        driver.run(Path.active + [.now(.openTaskCountChanged(1)), .now(.systemWillSleep(within: .seconds(4.5)))])
        driver.run([.acknowledge(.willResignActive), .acknowledge(.didEnterBackground)])
        #expect(driver.effects == [.saveArchive])
        driver.run([.after(.seconds(2.25))])
        #expect(driver.effects.contains(.expireTasks(deadline: .seconds(104.5))))
        driver.run([.after(.seconds(2.25))])
        #expect(driver.effects == [.releaseSleepInhibitor])
        driver.run([.after(.seconds(3_600))])
        #expect(driver.effects.isEmpty)
        driver.run([.now(.systemDidWake)])
        #expect(driver.effects.first == .acquireSleepInhibitor)
        driver.run([.acknowledge(.willEnterForeground), .acknowledge(.didBecomeActive)])
        #expect(driver.lifecycle.state == .active)
    }

    @Test("B19 without open tasks the machine may sleep as soon as the callbacks are acknowledged")
    func sleepAtOnce() {
        var driver = LifecycleDriver()
        driver.run(Path.active + [.now(.systemWillSleep(within: .seconds(4.5))), .acknowledge(.willResignActive)])
        #expect(!driver.effects.contains(.releaseSleepInhibitor))
        driver.run([.acknowledge(.didEnterBackground)])
        #expect(driver.effects == [.saveArchive, .releaseSleepInhibitor])
    }

    @Test("B19 B20 after a screen lock during sleep the application wakes inactive")
    func lockedDuringSleep() {
        var driver = LifecycleDriver()
        driver.run(Path.active + [.now(.systemWillSleep(within: .seconds(4.5))), .acknowledge(.willResignActive)])
        driver.run([
            .acknowledge(.didEnterBackground), .now(.lock), .now(.systemDidWake),
            .acknowledge(.willEnterForeground),
        ])
        #expect(driver.lifecycle.state == .inactive)
        driver.run([.now(.unlock), .acknowledge(.didBecomeActive)])
        #expect(driver.lifecycle.state == .active)
    }

    @Test("B19 a return to the foreground during sleep does not keep the machine awake")
    func shownDuringSleep() {
        var driver = LifecycleDriver()
        driver.run(Path.background + [.now(.openTaskCountChanged(0)), .now(.systemWillSleep(within: .seconds(4.5)))])
        #expect(driver.effects.contains(.releaseSleepInhibitor))
        driver.run([.now(.enterForeground)])
        #expect(driver.effects.isEmpty)
        driver.run([.now(.systemDidWake), .acknowledge(.willEnterForeground), .acknowledge(.didBecomeActive)])
        #expect(driver.lifecycle.state == .active)
    }

    @Test("B07 a memory warning is sent at most once per level in 5 s")
    func warnings() {
        var driver = LifecycleDriver()
        driver.run(
            Path.active + [.now(.memoryWarning(level: 1)), .after(.seconds(4.9), event: .memoryWarning(level: 1))]
        )
        #expect(driver.effects.isEmpty)
        driver.run([.now(.memoryWarning(level: 2))])
        #expect(driver.effects == [.deliverMemoryWarning(level: 2)])
        driver.run([.after(.seconds(0.1), event: .memoryWarning(level: 1))])
        #expect(driver.effects == [.deliverMemoryWarning(level: 1)])
    }

    @Test("B06 no task may start during willTerminate")
    func terminatingAdmitsNothing() {
        let admitting: [TaskPhase] = [.foreground, .background]
        for phase in [TaskPhase.foreground, .background, .expiring, .terminating] {
            #expect(phase.admitsTasks == admitting.contains(phase))
        }
    }
}
