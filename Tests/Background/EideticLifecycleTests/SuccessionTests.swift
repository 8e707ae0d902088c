import EideticLifecycle
import Testing

@Suite("Successive processes of one application")
struct SuccessionTests {
    private let second = ProcessIdentity(rawValue: 2)

    private func driver(_ steps: [Step]) -> LifecycleDriver {
        var driver = LifecycleDriver()
        driver.run(steps)
        return driver
    }

    @Test("B02 a launch while the application terminates waits for its end")
    func launchWhileTerminating() {
        var driver = driver(Path.active + [.now(.terminate(grace: .seconds(25))), .now(.launch(.user))])
        #expect(driver.effects.isEmpty && driver.lifecycle.isLaunchWaiting)
        driver.run([
            .acknowledge(.willResignActive), .acknowledge(.didEnterBackground), .acknowledge(.willTerminate),
        ])
        #expect(driver.effects == [.exitProcess])
        driver.run([.now(.processExited(status: 0))])
        #expect(driver.effects.contains(.spawnProcess(second)) && driver.lifecycle.state == .launching)
        #expect(driver.effects.contains(.deliver(.launch(.user), deadline: driver.now + .seconds(20))))
    }

    @Test("B02 B16 a launch after a kill waits for the exit, and keeps the saved state")
    func launchAfterKill() {
        var driver = driver(Path.background + [.now(.memoryExhausted), .now(.launch(.user))])
        #expect(driver.effects.isEmpty && driver.lifecycle.state == .notRunning)
        driver.run([.now(.processExited(status: 9))])
        let report = ExitReport(status: 9, killReason: .memory, wasLaunching: false, openTasks: 1)
        #expect(driver.effects.prefix(2) == [.reportExit(report), .spawnProcess(second)])
        #expect(!driver.effects.contains(.deleteArchive))
    }

    @Test("B02 B16 an old exit is no crash of the new launch")
    func oldExit() {
        var driver = driver(Path.active + [.now(.processExited(status: 0)), .now(.launch(.user))])
        #expect(driver.lifecycle.process == second)
        driver.run([.now(.processExited(.first, status: 9))])
        #expect(driver.effects.isEmpty && driver.lifecycle.state == .launching)
        #expect(driver.lifecycle.history.launchCrashCount == 0)
        driver.run([.now(.processExited(second, status: 9))])
        #expect(driver.effects.first == .deleteArchive && driver.lifecycle.history.launchCrashCount == 1)
    }

    @Test("B02 an acknowledgement, a count and a freeze of an earlier process change nothing")
    func oldEvents() {
        var driver = driver(Path.active + [.now(.processExited(status: 0)), .now(.launch(.user))])
        driver.run([.acknowledge(.launch(.user))])
        #expect(driver.effects.isEmpty && driver.lifecycle.state == .launching)
        driver.run([.now(.openTaskCountChanged(7)), .now(.wakeCompleted(1))])
        #expect(driver.effects.isEmpty && driver.lifecycle.stay.openTasks == 0)
        driver.run([.now(.callbackAcknowledged(.launch(.user), process: second))])
        #expect(driver.lifecycle.state == .active)
    }

    @Test("B02 a URL for an application that is ending is opened at the next launch", arguments: [true, false])
    func keptURL(isKilled: Bool) {
        var driver = driver(Path.active + [.now(isKilled ? .memoryExhausted : .terminate(grace: .zero))])
        driver.run([.now(.openURL("a:b"))])
        #expect(driver.effects.isEmpty)
        driver.run([.now(.processExited(status: 0))])
        #expect(driver.effects.contains(.deliver(.launch(.url("a:b")), deadline: driver.now + .seconds(20))))
        driver.run([.now(.callbackAcknowledged(.launch(.url("a:b")), process: second))])
        #expect(driver.effects == [.deliver(.openURL("a:b"), deadline: driver.now + .seconds(10))])
    }

    @Test("B02 URLs that the application was not asked to open when it ended are refused with the reason")
    func refusedURL() {
        var driver = driver(Path.suspended + [.now(.openURL("a:b")), .now(.processExited(status: 9))])
        #expect(driver.effects.contains(.reportURL(IncomingURL("a:b", id: 1), .refused(.processEnded))))
        driver = self.driver(Path.active + [.now(.terminate(grace: .zero)), .now(.openURL("a:b")), .now(.forceQuit)])
        #expect(driver.effects.contains(.reportURL(IncomingURL("a:b", id: 1), .refused(.forceQuit))))
        driver.run([.now(.processExited(status: 9))])
        #expect(driver.lifecycle.state == .notRunning && !driver.lifecycle.isLaunchWaiting)
    }

    @Test("B02 64 URLs wait; a further one is refused", arguments: [true, false])
    func urlLimit(isEnding: Bool) {
        var driver = driver(Path.active + (isEnding ? [.now(.terminate(grace: .zero))] : []))
        let urls = (0..<65).map { IncomingURL("a:\($0)", id: $0) }
        for url in urls.dropLast() {
            driver.run([.now(.openURL(url))])
            #expect(!driver.effects.contains { if case .reportURL = $0 { true } else { false } })
        }
        driver.run([.now(.openURL(urls[64]))])
        #expect(driver.effects == [.reportURL(urls[64], .refused(.tooManyRequests))])
    }

    @Test("B02 the answer to a URL is reported once; without one it was not handled")
    func answers() {
        let url = IncomingURL("a:b", id: 1)
        for isHandled in [true, false] {
            var driver = driver(Path.active + [.now(.openURL(url))])
            driver.run([.now(.urlAnswered(1, isHandled: isHandled, process: .first))])
            #expect(driver.effects == [.reportURL(url, isHandled ? .handled : .notHandled)])
            driver.run([.now(.urlAnswered(1, isHandled: true, process: .first))])
            #expect(driver.effects.isEmpty)
            driver.run([.acknowledge(.openURL(url))])
            #expect(driver.effects.isEmpty)
        }
        var driver = driver(
            Path.active + [.now(.openURL(url)), .now(.urlAnswered(2, isHandled: true, process: .first))]
        )
        #expect(driver.effects.isEmpty)
        driver.run([.acknowledge(.openURL(url))])
        #expect(driver.effects == [.reportURL(url, .notHandled)])
    }

    @Test("B01 a wake after a kill waits for the exit; one during a termination is refused")
    func wakes() {
        var driver = driver(Path.suspended + [.now(.memoryExhausted), .now(.wake(fetchWake, allowance: .seconds(60)))])
        #expect(driver.effects.isEmpty)
        driver.run([.now(.processExited(status: 9))])
        #expect(driver.effects.contains(.spawnProcess(second)) && driver.lifecycle.state == .launchingInBackground)
        driver.run([.now(.callbackAcknowledged(.launchInBackground(.wake(.fetch)), process: second))])
        #expect(driver.effects.contains(.deliver(.wake(fetchWake), deadline: driver.now + .seconds(30))))
        driver = self.driver(
            Path.active + [.now(.terminate(grace: .zero)), .now(.wake(fetchWake, allowance: .seconds(60)))]
        )
        #expect(driver.effects == [.refuse(.terminating)])
    }

    @Test("B02 a process that connects by itself is launched without being spawned, and a second one is refused")
    func connected() {
        for inBackground in [true, false] {
            var driver = driver([.now(.processConnected(inBackground: inBackground))])
            #expect(!driver.effects.contains(.spawnProcess(.first)))
            #expect(driver.lifecycle.state == (inBackground ? .launchingInBackground : .launching))
            driver.run([.now(.processConnected(inBackground: false))])
            #expect(driver.effects == [.refuse(.alreadyRunning)])
        }
    }

    @Test("B16 the state that a process saves after the user has ended it is deleted as well")
    func archiveAfterForceQuit() {
        let driver = driver(Path.background + [.now(.forceQuit), .now(.processExited(status: 9))])
        #expect(driver.effects.first == .deleteArchive)
    }

    @Test("B16 a program that cannot be started is no crash: nothing is deleted, and nothing waits for an exit")
    func missingStart() {
        var driver = driver(Path.launching + [.now(.processDidNotStart(.first))])
        #expect(driver.effects.isEmpty && driver.lifecycle.state == .notRunning)
        #expect(driver.lifecycle.history.launchCrashCount == 0 && driver.lifecycle.nextDeadline == nil)
        #expect(!driver.lifecycle.expectsExit(of: .first))
        driver.run([.now(.launch(.user))])
        #expect(driver.effects.contains(.spawnProcess(second)))
        // A report about the earlier process says nothing about this one.
        driver.run([.now(.processDidNotStart(.first))])
        #expect(driver.effects.isEmpty && driver.lifecycle.state == .launching)
    }

    @Test("B01 a wake that was not delivered when its process ended launches the next one", arguments: [true, false])
    func undeliveredWake(isKilled: Bool) {
        let end: [Step] = isKilled ? [.now(.memoryExhausted)] : []
        var driver = driver(Path.expiring + [.now(.wake(fetchWake, allowance: .seconds(60)))] + end)
        #expect(!driver.effects.contains(.reportWake(fetchWake, .failed)))
        driver.run([.now(.processExited(status: 9))])
        #expect(!driver.effects.contains(.reportWake(fetchWake, .failed)))
        #expect(driver.effects.contains(.spawnProcess(second)))
        driver.run([.now(.callbackAcknowledged(.launchInBackground(.wake(.fetch)), process: second))])
        #expect(driver.effects.contains(.deliver(.wake(fetchWake), deadline: driver.now + .seconds(30))))
    }

    @Test(
        "B01 a wake that was delivered, or waits for a launch that crashes, ends with its process",
        arguments: [true, false]
    )
    func deliveredWake(isLaunching: Bool) {
        let wake = Step.now(.wake(fetchWake, allowance: .seconds(60)))
        let driver = driver((isLaunching ? [] : Path.background) + [wake, .now(.processExited(status: 9))])
        #expect(driver.effects.contains(.reportWake(fetchWake, .failed)))
        #expect(driver.lifecycle.state == .notRunning && !driver.lifecycle.isLaunchWaiting)
    }

    @Test("B02 URLs and wakes of a process that cannot be started are refused, each once")
    func missingStartWithRequests() {
        var driver = driver([.now(.openURL("a:b")), .now(.wake(fetchWake, allowance: .seconds(60)))])
        driver.run([.now(.processDidNotStart(.first))])
        let refusal = LifecycleEffect.reportURL(IncomingURL("a:b", id: 1), .refused(.processEnded))
        #expect(driver.effects == [.reportWake(fetchWake, .failed), refusal])
        driver.run([.now(.processDidNotStart(.first))])
        #expect(driver.effects.isEmpty)
    }

    @Test("B02 a program that is known to be missing after its launch was killed ends as usual")
    func missingStartAfterKill() {
        var driver = driver(Path.launching + [.after(.seconds(20))])
        #expect(driver.effects.contains(.killProcess(.watchdog(.launch(.user)))))
        driver.run([.now(.processDidNotStart(.first))])
        #expect(driver.effects.isEmpty && driver.lifecycle.expectsExit(of: .first))
        driver.run([.now(.processExited(status: 0))])
        #expect(!driver.lifecycle.expectsExit(of: .first))
    }

    @Test("B02 a running process is not ended by the report of a missing start")
    func lateMissingStart() {
        var driver = driver(Path.active + [.now(.processDidNotStart(.first))])
        #expect(driver.effects.isEmpty && driver.lifecycle.state == .active)
        driver.run([.now(.terminate(grace: .zero)), .now(.launch(.user)), .now(.processDidNotStart(.first))])
        #expect(driver.lifecycle.isLaunchWaiting)
    }

    @Test("B05 limits that passed while a debugger held the process start again, the others do not")
    func restartedLimits() {
        var driver = driver(Path.enteringBackground + [.after(.milliseconds(4_999))])
        let early = driver.lifecycle.nextDeadline
        driver.lifecycle.restartPassedLimits(at: driver.now)
        #expect(driver.lifecycle.nextDeadline == early)
        driver.now += .milliseconds(1)
        driver.lifecycle.restartPassedLimits(at: driver.now)
        driver.run([.now(.deadlineReached)])
        #expect(driver.effects.isEmpty && driver.lifecycle.nextDeadline == driver.now + .seconds(5))
        driver.run([.after(.seconds(5))])
        #expect(driver.effects.contains(.killProcess(.watchdog(.didEnterBackground))))
    }

    @Test("B04 an expiration that passed while a debugger held the process ends in a kill after another limit")
    func restartedExpiration() {
        var driver = driver(Path.expiring)
        let end = driver.lifecycle.stay.killDeadline
        driver.now += .seconds(5)
        driver.lifecycle.restartPassedLimits(at: driver.now)
        #expect(driver.lifecycle.stay.killDeadline == end.map { $0 + .seconds(5) })
        driver.run([.after(.seconds(5))])
        #expect(driver.effects.contains(.killProcess(.backgroundTask)))
    }

    @Test("B06 the description of a URL, for logs, has no query, fragment, name or password")
    func descriptionOfURL() {
        for (text, expected) in [
            ("x://user:pass@host/a@b?c#d", "x://host/a@b"), ("x:y?z", "x:y"), ("x:y", "x:y"), ("?a", ""), ("", ""),
            ("x://host#a", "x://host"), ("x://a@b@host", "x://host"), ("mailto:a@b", "mailto:a@b"),
            (String(repeating: "a", count: 201), String(repeating: "a", count: 200)),
        ] {
            #expect("\(IncomingURL(text, id: 1))" == expected)
            #expect(!"\(LifecycleCallback.openURL(IncomingURL(text, id: 1)))".contains("?"))
        }
    }
}
