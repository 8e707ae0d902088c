import EideticLifecycle

extension Transition {
    static let suspending: [Transition] = [
        Transition(
            "suspending, frozen with nothing open",
            from: Path.suspending,
            on: [.now(.processFrozen(openTasks: 0, blocksOthers: false))],
            to: .suspended
        ) { _ in [.commitSuspension] },
        Transition(
            "suspending, frozen inside a task",
            from: Path.suspending,
            on: [.now(.processFrozen(openTasks: 1, blocksOthers: false))],
            to: .background
        ) { _ in [.thawProcess] },
        Transition(
            "suspending, frozen with a contended lock",
            from: Path.suspending,
            on: [.now(.processFrozen(openTasks: 0, blocksOthers: true))],
            to: .background
        ) { _ in [.warnAboutLocks, .thawProcess] },
        Transition(
            "suspending, frozen with a contended lock again within 5 s",
            from: Path.suspending + [
                .now(.processFrozen(openTasks: 0, blocksOthers: true)), .after(.milliseconds(250)),
            ],
            on: [.now(.processFrozen(openTasks: 0, blocksOthers: true))],
            to: .notRunning
        ) { _ in [.killProcess(.lockHeld)] },
        Transition("suspending, not frozen in 2 s", from: Path.suspending, on: [.after(.seconds(2))], to: .background) {
            _ in [.thawProcess, .throttleProcess]
        },
        Transition(
            "throttled, next attempt after 60 s",
            from: Path.suspending + [.after(.seconds(2))],
            on: [.after(.seconds(60))],
            to: .suspending
        ) { _ in [.freezeProcess] },
        Transition("suspending, enter foreground", from: Path.suspending, on: [.now(.enterForeground)], to: .background)
        { now in [.thawProcess, .deliver(.willEnterForeground, deadline: now + .seconds(10))] },
        Transition(
            "background, an application that exits on suspend",
            from: Path.active + [.now(.enterBackground), .acknowledge(.willResignActive)],
            on: [.acknowledge(.didEnterBackground)],
            to: .terminating,
            rules: rules { $0.suspensionPolicy = .terminate }
        ) { now in [.deliver(.willTerminate, deadline: now + .seconds(5))] },
        Transition(
            "background, without suspension",
            from: Path.background,
            on: [.now(.openTaskCountChanged(0)), .after(.seconds(1))],
            to: .background,
            rules: rules { $0.suspensionPolicy = .keepRunning }
        ),
        Transition(
            "stopped as a job of a shell",
            from: Path.active + [.now(.suspend(within: .seconds(5))), .acknowledge(.willResignActive)],
            on: [.acknowledge(.didEnterBackground)],
            to: .suspending,
            rules: rules { $0.suspensionPolicy = .keepRunning }
        ) { _ in [.saveArchive, .freezeProcess] },
        Transition(
            "stopped as a job of a shell, with a task",
            from: Path.background + [.now(.suspend(within: .seconds(5)))],
            on: [.after(.seconds(5))],
            to: .background
        ) { now in [.expireTasks(deadline: now + .seconds(5))] },
    ]

    static let resuming: [Transition] = [
        Transition("suspended, enter foreground", from: Path.suspended, on: [.now(.enterForeground)], to: .background) {
            now in
            [
                .deliverNotices, .thawProcess, .setTaskPhase(.foreground, deadline: nil),
                .deliver(.willEnterForeground, deadline: now + .seconds(10)),
            ]
        },
        Transition(
            "suspended, open URL",
            from: Path.suspended + [.now(.openURL("a:b")), .acknowledge(.willEnterForeground)],
            on: [.acknowledge(.openURL("a:b"))],
            to: .active
        ) { now in [.deliver(.didBecomeActive, deadline: now + .seconds(10))] },
        Transition("suspended, wake", from: Path.suspended, on: [.wake(fetchWake)], to: .background) { now in
            [.deliverNotices, .thawProcess, .deliver(.wake(fetchWake), deadline: now + .seconds(30))]
        },
        Transition(
            "suspended, continued as a job",
            from: Path.suspended,
            on: [.now(.resumeInBackground)],
            to: .background
        ) { _ in [.deliverNotices, .thawProcess] },
        Transition("suspended, memory critical", from: Path.suspended, on: [.now(.memoryExhausted)], to: .notRunning) {
            _ in [.killProcess(.memory)]
        },
        Transition("active, memory warning", from: Path.active, on: [.now(.memoryWarning(level: 2))], to: .active) {
            _ in [.deliverMemoryWarning(level: 2)]
        },
        Transition(
            "adopted in the background",
            from: [],
            on: [.now(.processAdopted(AdoptedProcess(.background, openTasks: 1)))],
            to: .background
        ) { now in [.setTaskPhase(.background, deadline: now + .seconds(600))] },
        Transition(
            "adopted while suspended",
            from: [],
            on: [.now(.processAdopted(AdoptedProcess(.suspended)))],
            to: .suspended
        ),
        Transition("adopted while active", from: [], on: [.now(.processAdopted(AdoptedProcess(.active)))], to: .active),
    ]

    static let ending: [Transition] = [
        Transition(
            "active, terminate",
            from: Path.active,
            on: [.now(.terminate(grace: .seconds(25)))],
            to: .terminating
        ) { now in [.extendStopTimeout(by: .seconds(2)), .deliver(.willResignActive, deadline: now + .seconds(10))] },
        Transition(
            "active, terminate, second callback",
            from: Path.active + [.now(.terminate(grace: .seconds(25)))],
            on: [.acknowledge(.willResignActive)],
            to: .terminating
        ) { now in
            [
                .setTaskPhase(.background, deadline: now + .seconds(25)),
                .deliver(.didEnterBackground, deadline: now + .seconds(5)),
            ]
        },
        Transition(
            "background with a task, terminate, grace spent",
            from: Path.background + [.now(.terminate(grace: .seconds(25)))],
            on: [.after(.seconds(25))],
            to: .terminating
        ) { now in [.expireTasks(deadline: now + .seconds(5))] },
        Transition(
            "background with a task, terminate twice",
            from: Path.background + [.now(.terminate(grace: .seconds(25)))],
            on: [.now(.terminate(grace: .seconds(25)))],
            to: .terminating
        ) { now in [.expireTasks(deadline: now + .seconds(5))] },
        Transition(
            "terminating, still open after its expiry",
            from: Path.background + [.now(.terminate(grace: .seconds(25))), .after(.seconds(25))],
            on: [.after(.seconds(5))],
            to: .notRunning
        ) { _ in [.killProcess(.backgroundTask)] },
        Transition(
            "terminating, the last task ends",
            from: Path.background + [.now(.terminate(grace: .seconds(25)))],
            on: [.now(.openTaskCountChanged(0))],
            to: .terminating
        ) { now in [.setTaskPhase(.terminating, deadline: now), .deliver(.willTerminate, deadline: now + .seconds(5))]
        },
        Transition(
            "terminating, willTerminate acknowledged",
            from: Path.background + [.now(.openTaskCountChanged(0)), .now(.terminate(grace: .seconds(25)))],
            on: [.acknowledge(.willTerminate)],
            to: .terminating
        ) { _ in [.exitProcess] },
        Transition(
            "terminating, willTerminate too slow",
            from: Path.background + [.now(.openTaskCountChanged(0)), .now(.terminate(grace: .seconds(25)))],
            on: [.after(.seconds(5))],
            to: .notRunning
        ) { _ in [.killProcess(.watchdog(.willTerminate))] },
        Transition(
            "suspended, terminate",
            from: Path.suspended,
            on: [.now(.terminate(grace: .seconds(25)))],
            to: .notRunning
        ) { _ in [.killProcess(.terminatedWhileSuspended)] },
        Transition("background, force-quit", from: Path.background, on: [.now(.forceQuit)], to: .notRunning) { _ in
            [.killProcess(.userForceQuit), .deleteArchive, .cancelTransfers]
        },
        Transition("background, exit", from: Path.background, on: [.now(.processExited(status: 9))], to: .notRunning) {
            _ in [.reportExit(ExitReport(status: 9, killReason: nil, wasLaunching: false, openTasks: 1))]
        },
        Transition(
            "killed, then exited",
            from: Path.expiring + [.after(.seconds(5))],
            on: [.now(.processExited(status: 9))],
            to: .notRunning
        ) { _ in [.reportExit(ExitReport(status: 9, killReason: .backgroundTask, wasLaunching: false, openTasks: 1))] },
    ]
}
