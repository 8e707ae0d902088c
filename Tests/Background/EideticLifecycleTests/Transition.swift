@testable import EideticLifecycle
import Testing

/// One transition of the state table: initial steps, events, the state that they lead to, and the effects.
struct Transition: Sendable, CustomTestStringConvertible {
    let name: String
    var rules = LifecycleRules()
    let setup: [Step]
    let steps: [Step]
    let expectedState: LifecycleState
    /// The effects of the last step, in this order, possibly with others between them.
    let expectedEffects: @Sendable (Duration) -> [LifecycleEffect]

    init(
        _ name: String,
        from setup: [Step],
        on steps: [Step],
        to expectedState: LifecycleState,
        rules: LifecycleRules = LifecycleRules(),
        effects expectedEffects: @escaping @Sendable (Duration) -> [LifecycleEffect] = { _ in [] }
    ) {
        (self.name, self.setup, self.steps, self.expectedState) = (name, setup, steps, expectedState)
        (self.rules, self.expectedEffects) = (rules, expectedEffects)
    }

    var testDescription: String { name }

    static func rules(_ change: (inout LifecycleRules) -> Void) -> LifecycleRules {
        var rules = LifecycleRules()
        change(&rules)
        return rules
    }
}

let fetchWake = WakeReason(.fetch, id: 7)
let sessionWake = WakeReason(.session, id: 8)

extension Transition {
    static let all: [Transition] = launching + presenting + timing + suspending + resuming + ending

    static let launching: [Transition] = [
        Transition("not running, launch", from: [], on: Path.launching, to: .launching) { now in
            [
                .spawnProcess(.first), .setTaskPhase(.foreground, deadline: nil),
                .deliver(.launch(.user), deadline: now + .seconds(20)),
            ]
        },
        Transition("not running, wake", from: [], on: [.wake(fetchWake)], to: .launchingInBackground) { now in
            [.spawnProcess(.first), .deliver(.launchInBackground(.wake(.fetch)), deadline: now + .seconds(20))]
        },
        Transition(
            "not running, wake of a mode that is not declared",
            from: [],
            on: [.wake(fetchWake)],
            to: .notRunning,
            rules: rules { $0.declaredWakeKinds = [.push] }
        ) { _ in [.refuse(.undeclaredMode)] },
        Transition(
            "not running, wake without allowance",
            from: [],
            on: [.now(.wake(fetchWake, allowance: .zero))],
            to: .notRunning
        ) { _ in [.refuse(.allowanceExhausted)] },
        Transition(
            "not running, wake after a force-quit",
            from: Path.active + [.now(.forceQuit)],
            on: [.wake(fetchWake)],
            to: .notRunning
        ) { _ in [.refuse(.forceQuit)] },
        Transition(
            "not running, wake after four crashes during launch",
            from: (1...4).flatMap { (number: UInt64) -> [Step] in
                [.wake(fetchWake), .now(.processExited(ProcessIdentity(rawValue: number), status: 6))]
            },
            on: [.wake(fetchWake)],
            to: .notRunning
        ) { _ in [.refuse(.repeatedLaunchCrashes)] },
        Transition(
            "launching for the user, acknowledged",
            from: Path.launching,
            on: [.acknowledge(.launch(.user))],
            to: .active
        ) { now in [.deliver(.didBecomeActive, deadline: now + .seconds(10))] },
        Transition(
            "launching for a URL, acknowledged",
            from: [.now(.openURL("a:b")), .acknowledge(.launch(.url("a:b")))],
            on: [.acknowledge(.openURL("a:b"))],
            to: .active
        ) { now in [.deliver(.didBecomeActive, deadline: now + .seconds(10))] },
        Transition(
            "launching in the background, acknowledged",
            from: [.wake(fetchWake)],
            on: [.acknowledge(.launchInBackground(.wake(.fetch)))],
            to: .background
        ) { now in [.deliver(.wake(fetchWake), deadline: now + .seconds(30))] },
        Transition("launching, too slow", from: Path.launching, on: [.after(.seconds(20))], to: .notRunning) { _ in
            [.killProcess(.watchdog(.launch(.user))), .deleteArchive]
        },
        Transition("launching, exit", from: Path.launching, on: [.now(.processExited(status: 11))], to: .notRunning) {
            _ in
            [.deleteArchive, .reportExit(ExitReport(status: 11, killReason: nil, wasLaunching: true, openTasks: 0))]
        },
    ]

    static let presenting: [Transition] = [
        Transition("active, deactivate", from: Path.active, on: [.now(.deactivate)], to: .active) { now in
            [.deliver(.willResignActive, deadline: now + .seconds(10))]
        },
        Transition(
            "active, deactivated",
            from: Path.active,
            on: [.now(.deactivate), .acknowledge(.willResignActive)],
            to: .inactive
        ),
        Transition("inactive, activate", from: Path.inactive, on: [.now(.activate)], to: .active) { now in
            [.deliver(.didBecomeActive, deadline: now + .seconds(10))]
        },
        Transition("active, enter background", from: Path.active, on: [.now(.enterBackground)], to: .active) { now in
            [.deliver(.willResignActive, deadline: now + .seconds(10))]
        },
        Transition("inactive, enter background", from: Path.inactive, on: [.now(.enterBackground)], to: .background) {
            now in
            [
                .setTaskPhase(.background, deadline: now + .seconds(600)),
                .deliver(.didEnterBackground, deadline: now + .seconds(5)),
            ]
        },
        Transition(
            "entering the background, acknowledged",
            from: Path.enteringBackground,
            on: [.acknowledge(.didEnterBackground)],
            to: .background
        ) { _ in [.saveArchive] },
        Transition(
            "entering the background, too slow",
            from: Path.enteringBackground,
            on: [.after(.seconds(5))],
            to: .notRunning
        ) { _ in [.killProcess(.watchdog(.didEnterBackground))] },
        Transition("active, open URL", from: Path.active, on: [.now(.openURL("a:b"))], to: .active) { now in
            [.deliver(.openURL("a:b"), deadline: now + .seconds(10))]
        },
        Transition("background, enter foreground", from: Path.background, on: [.now(.enterForeground)], to: .background)
        { now in
            [.setTaskPhase(.foreground, deadline: nil), .deliver(.willEnterForeground, deadline: now + .seconds(10))]
        },
        Transition(
            "background, back to active",
            from: Path.background,
            on: [.now(.enterForeground), .acknowledge(.willEnterForeground)],
            to: .active
        ) { now in [.deliver(.didBecomeActive, deadline: now + .seconds(10))] },
    ]

    static let timing: [Transition] = [
        Transition(
            "background, idle for 250 ms",
            from: Path.background,
            on: [.now(.openTaskCountChanged(0)), .after(.milliseconds(250))],
            to: .suspending
        ) { _ in [.freezeProcess] },
        Transition(
            "background, idle for less than 250 ms",
            from: Path.background,
            on: [.now(.openTaskCountChanged(0)), .after(.milliseconds(249))],
            to: .background
        ),
        Transition("background, budget spent", from: Path.background, on: [.after(.seconds(600))], to: .background) {
            now in [.setTaskPhase(.expiring, deadline: now), .expireTasks(deadline: now + .seconds(5))]
        },
        Transition(
            "background, time revoked",
            from: Path.background,
            on: [.now(.backgroundTimeRevoked)],
            to: .background
        ) { now in [.setTaskPhase(.expiring, deadline: now), .expireTasks(deadline: now + .seconds(5))] },
        Transition(
            "expiring, the last task ends",
            from: Path.expiring,
            on: [.now(.openTaskCountChanged(0))],
            to: .suspending
        ) { _ in [.freezeProcess] },
        Transition("expiring, still open after 5 s", from: Path.expiring, on: [.after(.seconds(5))], to: .notRunning) {
            _ in [.killProcess(.backgroundTask)]
        },
        Transition("expiring, enter foreground", from: Path.expiring, on: [.now(.enterForeground)], to: .background) {
            _ in [.setTaskPhase(.foreground, deadline: nil)]
        },
        Transition(
            "background, fetch not completed",
            from: Path.background + [.wake(fetchWake), .acknowledge(.wake(fetchWake))],
            on: [.after(.seconds(30))],
            to: .background
        ) { now in [.penalizeWake(fetchWake), .expireTasks(deadline: now + .seconds(5))] },
        Transition(
            "background, fetch never completed",
            from: Path.background + [.wake(fetchWake), .acknowledge(.wake(fetchWake)), .after(.seconds(30))],
            on: [.after(.seconds(5))],
            to: .notRunning
        ) { _ in [.killProcess(.wake)] },
        Transition(
            "background, session never completed",
            from: Path.background + [
                .now(.wake(sessionWake, allowance: .seconds(9))), .acknowledge(.wake(sessionWake)), .after(.seconds(9)),
            ],
            on: [.after(.seconds(5))],
            to: .notRunning
        ) { _ in [.killProcess(.session)] },
        Transition(
            "background, second wake",
            from: Path.background + [.wake(fetchWake), .acknowledge(.wake(fetchWake)), .after(.seconds(20))],
            on: [.wake(sessionWake)],
            to: .background
        ) { now in [.deliver(.wake(sessionWake), deadline: now + .seconds(30))] },
    ]
}

extension ExitReport {
    /// Creates the report of the first process.
    init(status: Int32, killReason: KillReason?, wasLaunching: Bool, openTasks: Int) {
        self.init(
            process: .first,
            status: status,
            killReason: killReason,
            wasLaunching: wasLaunching,
            openTasks: openTasks
        )
    }
}
