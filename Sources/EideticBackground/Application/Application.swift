public import EideticCore
import LifecycleCore

/// The application that this process is: its state, its background tasks, and what it is told.
///
/// ```swift
/// try Application.shared.start()
/// …
/// try await Application.shared.withBackgroundTask(named: "upload") { try await upload() }
/// ```
///
/// Once started, a request to stop (SIGTERM, Ctrl-C, systemd, Ctrl-Z) waits for open background tasks within a grace,
/// then expires them; the process ends with status 0. Until then it is a plain process, in which tasks can already be
/// begun and nothing expires.
public final class Application: Sendable {
    /// The application of this process.
    public static let shared = Application()

    let tasks: BackgroundTaskTable
    let clock: any TimeSource
    let noticeCenter = NoticeCenter()
    let stateBroadcast: Broadcast<ApplicationState>
    let phaseBroadcast: Broadcast<ApplicationPhase>
    let pressureBroadcast = Broadcast<MemoryPressure>(name: "memory pressure")
    let noticeSources = NoticeSources()
    let inbox = EventInbox()
    private struct State {
        var state = ApplicationState.notRunning
        var isStarted = false
        var previousExitReport: String?
    }

    private let currentState = Guarded(State())

    /// Creates an application that is not started; one process has one, ``shared``.
    package init(clock: any TimeSource = SystemTime()) {
        self.clock = clock
        tasks = BackgroundTaskTable { [inbox] in inbox.wake() }
        stateBroadcast = Broadcast(name: "state observer", initialValue: .notRunning, holdingTasksIn: tasks)
        phaseBroadcast = Broadcast(name: "phase observer", holdingTasksIn: tasks)
    }

    /// Begins the application's life: signals are handled from now on, and the launch callbacks come.
    ///
    /// May be called on any thread, once. The delegate is kept. Throws `EideticError.Code.invalidArgument` where the
    /// configuration is out of range, and `.refused` where the application has been started before.
    public func start(
        _ configuration: Configuration = Configuration(),
        delegate: (any ApplicationDelegate)? = nil
    ) throws(EideticError) {
        try configuration.validate()
        let isFirst = currentState.withLock { current in
            defer { current.isStarted = true }
            return !current.isStarted
        }
        guard isFirst else { throw EideticError(.refused, message: "the application has been started before") }
        try LifecycleHost(application: self, configuration: configuration, delegate: delegate, inbox: inbox).start()
    }

    /// Where the application stands now.
    public var state: ApplicationState { currentState.withLock { $0.state } }

    /// How the last life of the application ended, where it was ended for a broken rule; `nil` otherwise.
    ///
    /// One line with the code (`0x8badf00d`), the reason and the names of the open tasks. Known from the launch
    /// callbacks on; needs ``Configuration/identifier``.
    public var previousExitReport: String? { currentState.withLock { $0.previousExitReport } }

    func setPreviousExitReport(_ report: String?) { currentState.withLock { $0.previousExitReport = report } }

    /// The state now, then every change; ends when the application is about to end.
    ///
    /// A new stream for each caller. The process is neither suspended nor ended before each caller has taken the change
    /// and asked for the next one, or its time is up.
    public var states: AsyncStream<ApplicationState> { stateBroadcast.stream(startingWithLatest: true) }

    /// Whether the application may run in the background.
    public var isMultitaskingSupported: Bool { inbox.isMultitaskingSupported }

    /// Says what the user sees.
    ///
    /// For whoever knows it, as a window or a test. Does nothing before the start.
    public func setPresentation(_ presentation: ApplicationPresentation) {
        switch presentation {
        case .active: inbox.post([.activate, .enterForeground])
        case .inactive: inbox.post([.deactivate])
        case .background: inbox.post([.enterBackground])
        }
    }

    /// Asks the application to end, as SIGTERM does.
    public func terminate() { inbox.requestTermination() }

    /// Waits for the end of the application, which is that of the process.
    ///
    /// Stands at the end of a program: one that returns from its main function ends at once, whatever is open. Never
    /// returns where the application is not started.
    public func waitUntilTerminated() async -> Never {
        while true { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
    }

    func setState(_ state: ApplicationState) {
        let changed = currentState.withLock { current in
            defer { current.state = state }
            return current.state != state
        }
        if changed { stateBroadcast.post(state) }
    }
}

extension Application: ApplicationEnvironment {
    /// Every change between foreground and background from now on; waits for its callers as ``states`` does.
    public var phases: AsyncStream<ApplicationPhase> { phaseBroadcast.stream() }

    /// Every change of memory pressure from now on; also the return to normal.
    public var memoryPressure: AsyncStream<MemoryPressure> { pressureBroadcast.stream() }
}
