import EideticCore
import EideticLifecycle
import EideticSupervision

/// One message of each kind, and of each variant of its values.
enum SampleMessages {
    static let reasons: [LaunchReason] = [
        .user, .url(IncomingURL("eidetic:a", id: 7)), .notificationResponse("reply"), .wake(.voip),
    ]

    static let callbacks: [LifecycleCallback] =
        reasons.map { .launch($0) } + reasons.map { .launchInBackground($0) } + [
            .didBecomeActive, .willResignActive, .didEnterBackground, .willEnterForeground,
            .openURL(IncomingURL("https://example.org/ü", id: .max, source: "org.example.a")),
            .wake(WakeReason(.location, id: 1)),
            .willTerminate,
        ]

    static var hello: Hello {
        var hello = Hello(identifier: "org.example.app")
        hello.declarations.backgroundBudget = .seconds(30)
        hello.declarations.wakeKinds = [.fetch, .voip]
        hello.presentation = PresentationMessage(isVisible: true, isFocused: false)
        hello.running = Hello.RunningState(.background, token: [UInt8](repeating: 7, count: 16), generation: 3)
        hello.running?.wakes = [WakeReason(.fetch, id: 1), WakeReason(.push, id: 2)]
        hello.running?.assertions = [.audio, .continued]
        return hello
    }

    private static var resumedWork: ContinuedWorkMessage {
        var work = ContinuedWorkMessage(identifier: "e", title: "Export", subtitle: "of 3 films")
        work.isResumed = true
        return work
    }

    static let fromApplication: [ApplicationMessage] =
        [
            .hello(Hello()), .hello(hello), .acknowledged(sequence: 9), .taskNames(["flush", "upload"], request: 3),
            .idle,
            .urlAnswered(7, isHandled: true), .presentation(PresentationMessage(isVisible: true, isFocused: true)),
            .assertion(.audio, isHeld: true), .leaving,
            .wakes(.beginContinued(ContinuedWorkMessage(identifier: "e", title: "Export", subtitle: ""), number: 3)),
            .wakes(.beginContinued(resumedWork, number: 0)),
            .wakes(.reportContinued("e", completed: 7, total: .max)), .wakes(.endContinued("e")),
        ] + WakeResult.allCases.map { .wakeCompleted(5, $0) }

    static let fromSupervisor: [SupervisorMessage] =
        callbacks.map { .lifecycle($0, sequence: 4, deadline: .seconds(9)) } + [
            .welcome(Welcome(generation: 2, token: [1, 2], archiveDirectory: "/var/lib/eidetic/org.example.app")),
            .welcome(Welcome(generation: 1, token: [], socketPath: "/run/eidetic/supervisor")),
            .expire(deadline: .milliseconds(1)), .memoryWarning(level: 2),
            .suspended(from: .seconds(1), to: .seconds(2)), .taskNames(request: 3), .exit,
            .wakes(.stopContinued("e", reason: "the user has cancelled it")),
            .wakes(.task(nil, number: 3)),
        ] + LifecycleEffect.Refusal.allCases.map { .refused($0) }

    static let transferSupervision: [TransferSupervision] = [
        .connection(application: "a"), .forceQuit(application: "b"), .network(isMetered: true),
        .network(isMetered: false), .wake(application: "a", session: "c"), .listener,
        .hold(application: "a", isHeld: true), .wakeFailed(application: "a", session: "c"),
    ]

    static var program: ProgramDescription {
        var program = ProgramDescription(executable: "/usr/bin/gallery")
        (program.arguments, program.environment, program.directory) = (["-v", ""], ["LANG=C"], "/home/u")
        return program
    }

    static let requests: [ControlRequest] = [
        .list, .launch(identifier: "a", url: "b:c", inBackground: true), .foreground(identifier: "a"),
        .launch(identifier: "a", url: nil, inBackground: false), .background(identifier: "a"),
        .quit(identifier: "a", force: true), .explain(identifier: "a"), .log(identifier: nil, count: 20),
        .log(identifier: "a", count: 1), .wake(identifier: "a", kind: .push), .awaitChange,
        .openURL(identifier: "a", url: "x:y"), .openURLByScheme("x:y", token: 3), .followURL(token: 3),
    ]

    static var status: ApplicationStatus {
        var status = ApplicationStatus(identifier: "org.example.app", state: .suspended)
        (status.process, status.freezer, status.openTasks) = (42, .controlGroup, 1)
        (status.backgroundTimeRemaining, status.suspendedTime) = (.seconds(1), .seconds(2))
        (status.suspensionCount, status.residentMemory, status.wasForceQuit) = (3, 4_096, true)
        status.lastExit = "killed, code 0x8badf00d"
        return status
    }

    static let answers: [ControlAnswer] = [
        ControlAnswer(.done), ControlAnswer(.applications([status, status]), isLast: false),
        ControlAnswer(.lines(["a", "b"])), ControlAnswer(.refused(.notPermitted, message: "no")),
    ]
}
