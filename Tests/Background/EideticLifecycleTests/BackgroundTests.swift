import EideticLifecycle
import Testing

@Suite("Running in the background")
struct BackgroundTests {
    private func driver(_ steps: [Step], rules: LifecycleRules = LifecycleRules()) -> LifecycleDriver {
        var driver = LifecycleDriver(rules: rules)
        driver.run(steps)
        return driver
    }

    private static let wake = LifecycleEvent.wake(fetchWake, allowance: .seconds(60))
    private static let audio = LifecycleEvent.assertionChanged(.audio, isHeld: true, process: .first)
    private static let silence = LifecycleEvent.assertionChanged(.audio, isHeld: false, process: .first)

    @Test("B02 a launch into the background is one in its state, phase and callbacks")
    func launchInBackground() {
        var driver = driver([.now(.launchInBackground(.user))])
        #expect(driver.lifecycle.state == .launchingInBackground)
        #expect(driver.effects.contains(.setTaskPhase(.background, deadline: driver.now + .seconds(20))))
        driver.run([.acknowledge(.launchInBackground(.user))])
        #expect(driver.effects == [.setTaskPhase(.background, deadline: driver.now + .seconds(600))])
        #expect(driver.lifecycle.state == .background)
        driver.run([.now(.enterForeground), .acknowledge(.willEnterForeground)])
        #expect(driver.effects == [.deliver(.didBecomeActive, deadline: driver.now + .seconds(10))])
    }

    @Test("B02 a job that a shell starts in the background is launched there, and becomes active with fg")
    func backgroundJob() {
        var driver = driver(
            [.now(.launchBackgroundJob), .acknowledge(.launchInBackground(.user))],
            rules: Transition.rules { $0.suspensionPolicy = .keepRunning }
        )
        #expect(driver.lifecycle.state == .background)
        driver.run([.now(.resumeInForeground), .acknowledge(.willEnterForeground)])
        #expect(driver.effects == [.deliver(.didBecomeActive, deadline: driver.now + .seconds(10))])
    }

    @Test("B02 an application is woken after three crashes during its launch, and not after four")
    func repeatedLaunchCrashes() {
        var driver = LifecycleDriver()
        for _ in 0..<4 {
            driver.run([.now(Self.wake)])
            #expect(driver.effects.contains(.spawnProcess(driver.lifecycle.process)))
            driver.run([.now(.processExited(driver.lifecycle.process, status: 9))])
        }
        driver.run([.now(Self.wake)])
        #expect(driver.effects == [.refuse(.repeatedLaunchCrashes)])
    }

    private static let sessionWake = WakeReason(.session, id: 7)

    /// Launches the application for a wake, and ends its process while it handles it.
    private func crash(_ driver: inout LifecycleDriver, during wake: WakeReason) {
        driver.run([.now(.wake(wake, allowance: .seconds(60)))])
        let process = driver.lifecycle.process
        driver.run([
            .now(.callbackAcknowledged(.launchInBackground(.wake(wake.kind)), process: process)),
            .now(.callbackAcknowledged(.wake(wake), process: process)), .now(.processExited(process, status: 9)),
        ])
        #expect(driver.effects.contains(.reportWake(wake, .failed)))
    }

    @Test("B14 an application that ends in five wakes of a kind is woken for others only, until the user has used it")
    func repeatedWakeCrashes() {
        var driver = LifecycleDriver()
        for _ in 0..<5 { crash(&driver, during: Self.sessionWake) }
        driver.run([.now(.wake(Self.sessionWake, allowance: .seconds(60)))])
        #expect(driver.effects == [.refuse(.repeatedWakeCrashes)])
        driver.run([.now(Self.wake)])
        #expect(driver.effects.contains(.spawnProcess(driver.lifecycle.process)))
        driver.run([.now(.forceQuit), .now(.processExited(driver.lifecycle.process, status: 9)), .now(.launch(.user))])
        #expect(driver.lifecycle.history.wakeCrashCounts.isEmpty)
    }

    @Test("B14 a completed wake, or a kill for memory, is no crash, and the former ends the count")
    func completedWakes() {
        var driver = LifecycleDriver()
        for _ in 0..<4 { crash(&driver, during: Self.sessionWake) }
        #expect(driver.lifecycle.history.wakeCrashCounts == [.session: 4])
        driver.run([.now(.wake(Self.sessionWake, allowance: .seconds(60)))])
        let process = driver.lifecycle.process
        driver.run([
            .now(.callbackAcknowledged(.launchInBackground(.wake(.session)), process: process)),
            .now(.wakeCompleted(7, .noData, process: process)),
        ])
        #expect(driver.lifecycle.history.wakeCrashCounts.isEmpty)
        driver.run([.now(.wake(Self.sessionWake, allowance: .seconds(60))), .now(.memoryExhausted)])
        #expect(driver.lifecycle.history.wakeCrashCounts.isEmpty)
    }

    @Test("B14 a wake that exceeds its limit again and again counts as a crash")
    func overdueWakes() {
        var driver = LifecycleDriver()
        driver.run([.now(.wake(Self.sessionWake, allowance: .seconds(60)))])
        let process = driver.lifecycle.process
        driver.run([
            .now(.callbackAcknowledged(.launchInBackground(.wake(.session)), process: process)),
            .now(.callbackAcknowledged(.wake(Self.sessionWake), process: process)), .after(.seconds(31)),
            .after(.seconds(6)),
        ])
        #expect(driver.effects.contains(.killProcess(.session)))
        #expect(driver.lifecycle.history.wakeCrashCounts == [.session: 1])
    }

    @Test("B04 a wake does not forgive an expiration that has begun")
    func wakeDuringExpiration() {
        var driver = driver(Path.expiring + [.now(Self.wake)])
        #expect(driver.effects.isEmpty)
        driver.run([.after(.seconds(5))])
        // The wake waits for the next process.
        #expect(driver.effects == [.killProcess(.backgroundTask)])
    }

    @Test("B01 B04 a wake during an expiration is delivered when the tasks have ended")
    func wakeAfterExpiration() {
        var driver = driver(Path.expiring + [.now(Self.wake), .now(.openTaskCountChanged(0))])
        let end = driver.now + .seconds(30)
        #expect(
            driver.effects == [.setTaskPhase(.background, deadline: end), .deliver(.wake(fetchWake), deadline: end)]
        )
        driver.run([.acknowledge(.wake(fetchWake)), .now(.wakeCompleted(7))])
        #expect(driver.effects.first == .reportWake(fetchWake, .newData))
    }

    @Test("B01 each result of a wake is reported, once", arguments: WakeResult.allCases)
    func results(_ result: WakeResult) {
        var driver = driver(Path.background + [.now(Self.wake), .acknowledge(.wake(fetchWake))])
        let completed = LifecycleEvent.wakeCompleted(7, result, process: .first)
        driver.run([.now(completed)])
        #expect(driver.effects == [.reportWake(fetchWake, result)])
        driver.run([.now(completed)])
        #expect(driver.effects.isEmpty)
    }

    @Test("B10 background time stands still while audio plays, and an application without tasks is not suspended")
    func audio() {
        var driver = driver(Path.background + [.after(.seconds(100), event: Self.audio)])
        #expect(driver.effects == [.setTaskPhase(.background, deadline: nil)])
        #expect(driver.lifecycle.nextDeadline == nil)
        driver.run([.now(.openTaskCountChanged(0)), .after(.seconds(10_000))])
        #expect(driver.effects.isEmpty && driver.lifecycle.state == .background)
        driver.run([.now(Self.silence)])
        #expect(driver.effects == [.setTaskPhase(.background, deadline: driver.now + .seconds(500))])
        driver.run([.after(.milliseconds(250))])
        #expect(driver.effects == [.freezeProcess])
    }

    @Test("B10 audio does not delay a termination, nor forgive an expiration, nor prevent Ctrl-Z")
    func audioIsNoExcuse() {
        var driver = driver(Path.background + [.now(Self.audio), .now(.terminate(grace: .seconds(25)))])
        #expect(driver.lifecycle.nextDeadline == driver.now + .seconds(1))
        driver.run([.after(.seconds(25))])
        #expect(driver.effects.contains(.expireTasks(deadline: driver.now + .seconds(5))))
        driver = self.driver(Path.expiring + [.now(Self.audio), .after(.seconds(5))])
        #expect(driver.effects == [.killProcess(.backgroundTask)])
        driver = self.driver(Path.background + [.now(Self.audio), .now(.openTaskCountChanged(0))])
        driver.run([.now(.suspend(within: .seconds(5)))])
        #expect(driver.effects.contains(.freezeProcess))
    }

    @Test("B10 a process that took the assertion just before it was frozen continues")
    func audioBeforeFreeze() {
        for path in [Path.suspending, Path.suspended] {
            let driver = driver(path + [.now(Self.audio)])
            #expect(driver.effects.contains(.thawProcess) && driver.lifecycle.state == .background)
        }
    }

    @Test("B10 an assertion that the application has not declared is refused")
    func undeclared() {
        let driver = driver(
            Path.background + [.now(Self.audio)],
            rules: Transition.rules { $0.declaredAssertions = [] }
        )
        #expect(driver.effects == [.refuse(.undeclaredMode)])
    }

    @Test("B08 adoption keeps open wakes: they are completed, or overdue after their limit")
    func adoptedWakes() {
        let adopted = LifecycleEvent.processAdopted(AdoptedProcess(.background, wakes: [fetchWake]))
        var driver = driver([.now(adopted), .after(.milliseconds(250))])
        #expect(driver.effects.isEmpty && driver.lifecycle.state == .background)
        driver.run([.now(.wakeCompleted(7))])
        #expect(driver.effects == [.reportWake(fetchWake, .newData)])
        driver = self.driver([.now(adopted), .after(.seconds(30))])
        #expect(driver.effects.contains(.penalizeWake(fetchWake)))
    }

    @Test("B08 adoption leaves an active application active")
    func adoptedActive() {
        let driver = driver([.now(.processAdopted(AdoptedProcess(.active)))])
        #expect(driver.effects == [.setTaskPhase(.foreground, deadline: nil)] && driver.lifecycle.state == .active)
    }

    @Test("B08 adoption makes an inactive application not active, and keeps its assertions")
    func adoptedInactive() {
        var driver = driver([.now(.processAdopted(AdoptedProcess(.inactive)))])
        #expect(driver.lifecycle.state == .inactive)
        #expect(driver.effects == [.setTaskPhase(.foreground, deadline: nil)])
        driver.run([.now(.activate)])
        #expect(driver.effects == [.deliver(.didBecomeActive, deadline: driver.now + .seconds(10))])
        driver = self.driver([.now(.processAdopted(AdoptedProcess(.background, assertions: [.audio])))])
        #expect(driver.effects == [.setTaskPhase(.background, deadline: nil)] && driver.lifecycle.nextDeadline == nil)
    }

    @Test("B08 a process that is found frozen inside a task or a wake continues")
    func adoptedFrozen() {
        for found in [AdoptedProcess(.suspended, openTasks: 1), AdoptedProcess(.suspended, wakes: [fetchWake])] {
            let driver = driver([.now(.processAdopted(found))])
            #expect(driver.effects.contains(.thawProcess) && driver.lifecycle.state == .background)
        }
    }
}
