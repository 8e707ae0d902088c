import EideticLifecycle
import Testing

@Suite("Presentation")
struct PresentationTests {
    /// One combination of the facts from which the state follows.
    struct Facts: Sendable, Hashable, CustomTestStringConvertible {
        let isVisible: Bool
        let hasFocus: Bool
        let isLocked: Bool
        let isHeld: Bool

        static let all: [Facts] = (0..<16).map { bits in
            Facts(
                isVisible: bits & 1 != 0,
                hasFocus: bits & 2 != 0,
                isLocked: bits & 4 != 0,
                isHeld: bits & 8 != 0
            )
        }

        var testDescription: String {
            [isVisible ? "seen" : "hidden", hasFocus ? "focused" : "", isLocked ? "locked" : "", isHeld ? "held" : ""]
                .filter { !$0.isEmpty }.joined(separator: " ")
        }

        var state: LifecycleState {
            if !isVisible || isHeld { return .background }
            return hasFocus && !isLocked ? .active : .inactive
        }

        /// The events that change other facts into these, in a given rotation.
        func events(after old: Facts, rotation: Int) -> [LifecycleEvent] {
            var events: [LifecycleEvent] = []
            if isVisible != old.isVisible { events.append(isVisible ? .show : .enterBackground) }
            if hasFocus != old.hasFocus { events.append(hasFocus ? .activate : .deactivate) }
            if isLocked != old.isLocked { events.append(isLocked ? .lock : .unlock) }
            if isHeld != old.isHeld { events.append(isHeld ? .suspend(within: .seconds(5)) : .resumeInForeground) }
            return events.indices.map { events[($0 + rotation) % events.count] }
        }
    }

    private static let initial = Facts(isVisible: true, hasFocus: true, isLocked: false, isHeld: false)

    /// Passes an event, and acknowledges all callbacks that follow, or none of them.
    private func pass(_ event: LifecycleEvent, to driver: inout LifecycleDriver, acknowledges: Bool) {
        driver.run([.now(event)])
        while acknowledges, let callback = driver.lifecycle.unacknowledgedCallback {
            driver.run([.acknowledge(callback)])
        }
        if driver.lifecycle.state == .suspending {
            driver.run([.now(.processFrozen(openTasks: 0, blocksOthers: false))])
        }
    }

    @Test("B20 the state follows from all facts, in any order and at any speed of their changes", arguments: Facts.all)
    func follows(_ facts: Facts) {
        for next in Facts.all {
            for rotation in 0..<4 {
                for acknowledges in [true, false] {
                    var driver = LifecycleDriver(rules: Transition.rules { $0.suspensionPolicy = .keepRunning })
                    driver.run(Path.active + [.now(.openTaskCountChanged(1))])
                    for event in facts.events(after: Self.initial, rotation: rotation) {
                        pass(event, to: &driver, acknowledges: true)
                    }
                    #expect(driver.lifecycle.state == facts.state)
                    for event in next.events(after: facts, rotation: rotation) {
                        pass(event, to: &driver, acknowledges: acknowledges)
                    }
                    pass(.deadlineReached, to: &driver, acknowledges: true)
                    #expect(driver.lifecycle.state == next.state, "to \(next.testDescription), rotation \(rotation)")
                }
            }
        }
    }

    @Test("B20 unlocking does not activate an unfocused window")
    func unlocksWithoutFocus() {
        var driver = LifecycleDriver()
        driver.run(Path.inactive + [.now(.lock), .now(.unlock)])
        #expect(driver.effects.isEmpty && driver.lifecycle.state == .inactive)
    }

    @Test("B20 an application that was locked in the background returns inactive, and is active when unlocked")
    func lockedInBackground() {
        var driver = LifecycleDriver()
        driver.run(Path.background + [.now(.lock), .now(.enterForeground), .acknowledge(.willEnterForeground)])
        #expect(driver.effects.isEmpty && driver.lifecycle.state == .inactive)
        driver.run([.now(.unlock)])
        #expect(driver.effects == [.deliver(.didBecomeActive, deadline: driver.now + .seconds(10))])
    }

    @Test("B20 a launch while the screen is locked does not make the application active")
    func launchedWhileLocked() {
        var driver = LifecycleDriver()
        driver.run([.now(.lock)] + Path.launching + [.acknowledge(.launch(.user))])
        #expect(driver.effects.isEmpty && driver.lifecycle.state == .inactive)
    }

    @Test("B02 a hidden application that is shown without input becomes inactive")
    func shownWithoutFocus() {
        var driver = LifecycleDriver()
        driver.run(Path.background + [.now(.deactivate), .now(.show), .acknowledge(.willEnterForeground)])
        #expect(driver.effects.isEmpty && driver.lifecycle.state == .inactive)
    }

    @Test("B20 an application that is shown to the user is no longer held by job control")
    func shownWhileHeld() {
        var driver = LifecycleDriver(rules: Transition.rules { $0.suspensionPolicy = .keepRunning })
        let held: [Step] = [
            .now(.suspend(within: .seconds(5))), .acknowledge(.willResignActive), .acknowledge(.didEnterBackground),
        ]
        driver.run(Path.active + [.now(.openTaskCountChanged(1))] + held)
        #expect(driver.lifecycle.state == .background)
        driver.run([.now(.enterForeground), .acknowledge(.willEnterForeground)])
        #expect(driver.effects == [.deliver(.didBecomeActive, deadline: driver.now + .seconds(10))])
    }
}
