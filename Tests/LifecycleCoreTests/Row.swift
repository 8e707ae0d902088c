import LifecycleCore
import Testing

/// One row of the table of states: from where, what happens, where it leads, what is done.
struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    var rules = LifecycleRules()
    let given: [Step]
    let steps: [Step]
    let stage: Stage
    /// Effects of the last step, in this order, among others.
    let effects: @Sendable (Duration) -> [LifecycleEffect]

    init(
        _ name: String,
        _ given: [Step],
        _ steps: [Step],
        _ stage: Stage,
        rules: LifecycleRules = LifecycleRules(),
        _ effects: @escaping @Sendable (Duration) -> [LifecycleEffect] = { _ in [] }
    ) {
        (self.name, self.given, self.steps, self.stage) = (name, given, steps, stage)
        (self.rules, self.effects) = (rules, effects)
    }

    var testDescription: String { name }

    static func rules(_ change: (inout LifecycleRules) -> Void) -> LifecycleRules {
        var rules = LifecycleRules()
        change(&rules)
        return rules
    }
}

let fetch = WakeReason(.fetch, id: 7)
let session = WakeReason(.session, id: 8)

extension Row {
    static let all: [Row] = starting + presenting + timing + suspending + resuming + ending

    static let starting: [Row] = [
        Row("not running, launch", [], Way.launching, .launching) { now in
            [
                .spawn, .phase(.foreground, deadline: nil),
                .deliver(.launch(.user), deadline: now + .seconds(20)),
            ]
        },
        Row("not running, wake", [], [.now(.wake(fetch, allowance: .seconds(60)))], .launching) { now in
            [.spawn, .deliver(.launchInBackground, deadline: now + .seconds(20))]
        },
        Row(
            "not running, wake of a mode that is not declared",
            [],
            [.now(.wake(fetch, allowance: .seconds(60)))],
            .notRunning,
            rules: rules { $0.modes = [.push] }
        ) { _ in [.refuse(.undeclaredMode)] },
        Row("not running, wake without allowance", [], [.now(.wake(fetch, allowance: .zero))], .notRunning) { _ in
            [.refuse(.allowanceSpent)]
        },
        Row(
            "not running, wake after a force-quit",
            Way.active + [.now(.forceQuit)],
            [.now(.wake(fetch, allowance: .seconds(60)))],
            .notRunning
        ) { _ in [.refuse(.forceQuit)] },
        Row(
            "not running, wake after four crashes during launch",
            Array(
                repeating: [Step.now(.wake(fetch, allowance: .seconds(60))), .now(.exited(status: 6))],
                count: 4
            ).flatMap(\.self),
            [.now(.wake(fetch, allowance: .seconds(60)))],
            .notRunning
        ) { _ in [.refuse(.launchCrashes)] },
        Row("launching for the user, acknowledged", Way.launching, [.ack(.launch(.user))], .active) { now in
            [.deliver(.didBecomeActive, deadline: now + .seconds(10))]
        },
        Row(
            "launching for a URL, acknowledged",
            [.now(.openURL("a:b")), .ack(.launch(.url("a:b")))],
            [.ack(.openURL("a:b"))],
            .active
        ) { now in [.deliver(.didBecomeActive, deadline: now + .seconds(10))] },
        Row(
            "launching in the background, acknowledged",
            [.now(.wake(fetch, allowance: .seconds(60)))],
            [.ack(.launchInBackground)],
            .background
        ) { now in [.deliver(.wake(fetch), deadline: now + .seconds(30))] },
        Row("launching, too slow", Way.launching, [.after(.seconds(20))], .notRunning) { _ in
            [.kill(.watchdog(.launch(.user))), .deleteArchive]
        },
        Row("launching, exit", Way.launching, [.now(.exited(status: 11))], .notRunning) { _ in
            [
                .deleteArchive,
                .report(ExitReport(status: 11, reason: nil, duringLaunch: true, openTasks: 0)),
            ]
        },
    ]

    static let presenting: [Row] = [
        Row("active, deactivate", Way.active, [.now(.deactivate)], .active) { now in
            [.deliver(.willResignActive, deadline: now + .seconds(10))]
        },
        Row("active, deactivated", Way.active, [.now(.deactivate), .ack(.willResignActive)], .inactive),
        Row("inactive, activate", Way.inactive, [.now(.activate)], .active) { now in
            [.deliver(.didBecomeActive, deadline: now + .seconds(10))]
        },
        Row("active, enter background", Way.active, [.now(.enterBackground)], .active) { now in
            [.deliver(.willResignActive, deadline: now + .seconds(10))]
        },
        Row("inactive, enter background", Way.inactive, [.now(.enterBackground)], .background) { now in
            [
                .phase(.background, deadline: now + .seconds(600)),
                .deliver(.didEnterBackground, deadline: now + .seconds(5)),
            ]
        },
        Row(
            "entering the background, acknowledged",
            Way.enteringBackground,
            [.ack(.didEnterBackground)],
            .background
        ) { _ in [.saveArchive] },
        Row("entering the background, too slow", Way.enteringBackground, [.after(.seconds(5))], .notRunning) { _ in
            [.kill(.watchdog(.didEnterBackground))]
        },
        Row("active, open URL", Way.active, [.now(.openURL("a:b"))], .active) { now in
            [.deliver(.openURL("a:b"), deadline: now + .seconds(10))]
        },
        Row("background, enter foreground", Way.background, [.now(.enterForeground)], .background) { now in
            [
                .phase(.foreground, deadline: nil),
                .deliver(.willEnterForeground, deadline: now + .seconds(10)),
            ]
        },
        Row(
            "background, back to active",
            Way.background,
            [.now(.enterForeground), .ack(.willEnterForeground)],
            .active
        ) { now in [.deliver(.didBecomeActive, deadline: now + .seconds(10))] },
    ]

    static let timing: [Row] = [
        Row(
            "background, nothing open, 250 ms",
            Way.background,
            [.now(.tasks(0)), .after(.milliseconds(250))],
            .suspending
        ) { _ in [.freeze] },
        Row(
            "background, nothing open, before 250 ms",
            Way.background,
            [.now(.tasks(0)), .after(.milliseconds(249))],
            .background
        ),
        Row("background, budget spent", Way.background, [.after(.seconds(600))], .background) { now in
            [.phase(.expiring, deadline: now), .expireTasks(deadline: now + .seconds(5))]
        },
        Row("background, called in", Way.background, [.now(.callIn)], .background) { now in
            [.phase(.expiring, deadline: now), .expireTasks(deadline: now + .seconds(5))]
        },
        Row("expiring, the last task ends", Way.expiring, [.now(.tasks(0))], .suspending) { _ in [.freeze] },
        Row("expiring, still open after 5 s", Way.expiring, [.after(.seconds(5))], .notRunning) { _ in
            [.kill(.backgroundTask)]
        },
        Row("expiring, enter foreground", Way.expiring, [.now(.enterForeground)], .background) { _ in
            [.phase(.foreground, deadline: nil)]
        },
        Row(
            "background, fetch not completed",
            Way.background + [.now(.wake(fetch, allowance: .seconds(60))), .ack(.wake(fetch))],
            [.after(.seconds(30))],
            .background
        ) { now in [.penalize(fetch), .expireTasks(deadline: now + .seconds(5))] },
        Row(
            "background, fetch never completed",
            Way.background + [.now(.wake(fetch, allowance: .seconds(60))), .ack(.wake(fetch)), .after(.seconds(30))],
            [.after(.seconds(5))],
            .notRunning
        ) { _ in [.kill(.wake)] },
        Row(
            "background, session never completed",
            Way.background + [.now(.wake(session, allowance: .seconds(9))), .ack(.wake(session)), .after(.seconds(9))],
            [.after(.seconds(5))],
            .notRunning
        ) { _ in [.kill(.session)] },
        Row(
            "background, second wake",
            Way.background + [.now(.wake(fetch, allowance: .seconds(60))), .ack(.wake(fetch)), .after(.seconds(20))],
            [.now(.wake(session, allowance: .seconds(60)))],
            .background
        ) { now in [.deliver(.wake(session), deadline: now + .seconds(30))] },
    ]

    static let suspending: [Row] = [
        Row(
            "suspending, frozen with nothing open",
            Way.suspending,
            [.now(.frozen(openTasks: 0, blocksOthers: false))],
            .suspended
        ) { _ in [.commitSuspension] },
        Row(
            "suspending, frozen inside a task",
            Way.suspending,
            [.now(.frozen(openTasks: 1, blocksOthers: false))],
            .background
        ) { _ in [.thaw] },
        Row(
            "suspending, frozen with a lock that others wait for",
            Way.suspending,
            [.now(.frozen(openTasks: 0, blocksOthers: true))],
            .background
        ) { _ in [.warnOfLocks, .thaw] },
        Row(
            "suspending, the same again within 5 s",
            Way.suspending + [.now(.frozen(openTasks: 0, blocksOthers: true)), .after(.milliseconds(250))],
            [.now(.frozen(openTasks: 0, blocksOthers: true))],
            .notRunning
        ) { _ in [.kill(.lockHeld)] },
        Row("suspending, not frozen in 2 s", Way.suspending, [.after(.seconds(2))], .background) { _ in
            [.thaw, .throttle]
        },
        Row(
            "throttled, tried again after 60 s",
            Way.suspending + [.after(.seconds(2))],
            [.after(.seconds(60))],
            .suspending
        ) { _ in [.freeze] },
        Row("suspending, enter foreground", Way.suspending, [.now(.enterForeground)], .background) { now in
            [.thaw, .deliver(.willEnterForeground, deadline: now + .seconds(10))]
        },
        Row(
            "background, an application that exits instead",
            Way.active + [.now(.enterBackground), .ack(.willResignActive)],
            [.ack(.didEnterBackground)],
            .terminating,
            rules: rules { $0.suspension = .ends }
        ) { now in [.deliver(.willTerminate, deadline: now + .seconds(5))] },
        Row(
            "background, where nothing suspends",
            Way.background,
            [.now(.tasks(0)), .after(.seconds(1))],
            .background,
            rules: rules { $0.suspension = .staysRunning }
        ),
        Row(
            "stopped as a job of a shell",
            Way.active + [.now(.suspend(within: .seconds(5))), .ack(.willResignActive)],
            [.ack(.didEnterBackground)],
            .suspending,
            rules: rules { $0.suspension = .staysRunning }
        ) { _ in [.saveArchive, .freeze] },
        Row(
            "stopped as a job of a shell, with a task",
            Way.background + [.now(.suspend(within: .seconds(5)))],
            [.after(.seconds(5))],
            .background
        ) { now in [.expireTasks(deadline: now + .seconds(5))] },
    ]

    static let resuming: [Row] = [
        Row("suspended, enter foreground", Way.suspended, [.now(.enterForeground)], .background) { now in
            [
                .thaw, .deliverNotices, .phase(.foreground, deadline: nil),
                .deliver(.willEnterForeground, deadline: now + .seconds(10)),
            ]
        },
        Row(
            "suspended, open URL",
            Way.suspended + [.now(.openURL("a:b")), .ack(.willEnterForeground)],
            [.ack(.openURL("a:b"))],
            .active
        ) { now in [.deliver(.didBecomeActive, deadline: now + .seconds(10))] },
        Row("suspended, wake", Way.suspended, [.now(.wake(fetch, allowance: .seconds(60)))], .background) { now in
            [.thaw, .deliverNotices, .deliver(.wake(fetch), deadline: now + .seconds(30))]
        },
        Row("suspended, continued as a job", Way.suspended, [.now(.continueInBackground)], .background) { _ in
            [.thaw, .deliverNotices]
        },
        Row("suspended, memory critical", Way.suspended, [.now(.jettison)], .notRunning) { _ in [.kill(.memory)] },
        Row("active, memory warning", Way.active, [.now(.memoryWarning(level: 2))], .active) { _ in
            [.memoryWarning(level: 2)]
        },
        Row(
            "a new supervisor finds it in the background",
            [],
            [.now(.adopted(.background, openTasks: 1))],
            .background
        ) { now in [.phase(.background, deadline: now + .seconds(600))] },
        Row("a new supervisor finds it frozen", [], [.now(.adopted(.suspended, openTasks: 0))], .suspended),
        Row("a new supervisor finds it seen", [], [.now(.adopted(.foreground, openTasks: 0))], .active),
    ]

    static let ending: [Row] = [
        Row("active, terminate", Way.active, [.now(.terminate(grace: .seconds(25)))], .terminating) { now in
            [.extendStop(by: .seconds(2)), .deliver(.willResignActive, deadline: now + .seconds(10))]
        },
        Row(
            "active, terminate, second callback",
            Way.active + [.now(.terminate(grace: .seconds(25)))],
            [.ack(.willResignActive)],
            .terminating
        ) { now in
            [
                .phase(.background, deadline: now + .seconds(25)),
                .deliver(.didEnterBackground, deadline: now + .seconds(5)),
            ]
        },
        Row(
            "background with a task, terminate, grace spent",
            Way.background + [.now(.terminate(grace: .seconds(25)))],
            [.after(.seconds(25))],
            .terminating
        ) { now in [.expireTasks(deadline: now + .seconds(5))] },
        Row(
            "background with a task, asked to terminate twice",
            Way.background + [.now(.terminate(grace: .seconds(25)))],
            [.now(.terminate(grace: .seconds(25)))],
            .terminating
        ) { now in [.expireTasks(deadline: now + .seconds(5))] },
        Row(
            "terminating, still open after its expiry",
            Way.background + [.now(.terminate(grace: .seconds(25))), .after(.seconds(25))],
            [.after(.seconds(5))],
            .notRunning
        ) { _ in [.kill(.backgroundTask)] },
        Row(
            "terminating, the last task ends",
            Way.background + [.now(.terminate(grace: .seconds(25)))],
            [.now(.tasks(0))],
            .terminating
        ) { now in
            [
                .phase(.terminating, deadline: now),
                .deliver(.willTerminate, deadline: now + .seconds(5)),
            ]
        },
        Row(
            "terminating, willTerminate acknowledged",
            Way.background + [.now(.tasks(0)), .now(.terminate(grace: .seconds(25)))],
            [.ack(.willTerminate)],
            .terminating
        ) { _ in [.finish] },
        Row(
            "terminating, willTerminate too slow",
            Way.background + [.now(.tasks(0)), .now(.terminate(grace: .seconds(25)))],
            [.after(.seconds(5))],
            .notRunning
        ) { _ in [.kill(.watchdog(.willTerminate))] },
        Row("suspended, terminate", Way.suspended, [.now(.terminate(grace: .seconds(25)))], .notRunning) { _ in
            [.kill(.terminatedWhileSuspended)]
        },
        Row("background, force-quit", Way.background, [.now(.forceQuit)], .notRunning) { _ in
            [.kill(.userForceQuit), .deleteArchive, .cancelTransfers]
        },
        Row("background, exit", Way.background, [.now(.exited(status: 9))], .notRunning) { _ in
            [.report(ExitReport(status: 9, reason: nil, duringLaunch: false, openTasks: 1))]
        },
        Row(
            "killed, then gone",
            Way.expiring + [.after(.seconds(5))],
            [.now(.exited(status: 9))],
            .notRunning
        ) { _ in [.report(ExitReport(status: 9, reason: .backgroundTask, duringLaunch: false, openTasks: 1))] },
    ]
}
