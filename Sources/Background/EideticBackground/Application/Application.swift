public import EideticCore
import EideticLifecycle

/// This process as an application: its state, its background tasks, and its notices.
///
/// ```swift
/// try Application.shared.start()
/// …
/// try await Application.shared.withBackgroundTask(named: "upload") { try await upload() }
/// ```
///
/// After ``start(_:delegate:)``, a request to terminate or stop (SIGTERM, SIGHUP, Ctrl-C, systemd, Ctrl-Z) takes effect
/// only when all background tasks have ended; after a grace period the remaining tasks expire. A terminated process
/// exits with status 0. Tasks can be opened before the start, but do not expire then.
public final class Application: Sendable {
    /// The application of this process.
    public static let shared = Application()

    let tasks: BackgroundTaskTable
    let clock: any TimeSource
    let noticeCenter: NoticeCenter
    let stateBroadcast: Broadcast<ApplicationState>
    let phaseBroadcast: Broadcast<ApplicationPhase>
    let pressureBroadcast = Broadcast<MemoryPressure>(name: "memory pressure")
    let noticeSources = NoticeSources()
    let inbox = EventInbox()
    let wakeCenter: WakeCenter
    /// The number of open beginnings of each activity.
    let activities = Guarded<[ContinuousAssertion: Int]>([:])
    /// The drawing of the window for a switcher.
    let snapshots = Guarded(Snapshots())
    private struct State {
        var state = ApplicationState.notRunning
        var isStarted = false
        var previousExitReport: String?
    }

    private let currentState = Guarded(State())

    /// Creates an application that is not started; a process uses ``shared``.
    package init(clock: any TimeSource = SystemTime()) {
        self.clock = clock
        tasks = BackgroundTaskTable { [inbox] in inbox.reportOpenCountChange() }
        noticeCenter = NoticeCenter { [inbox] in inbox.wake() }
        wakeCenter = WakeCenter { [inbox] in inbox.wake() }
        // In the foreground nothing stops the process; a consumer that has left its loop there must not delay its end.
        stateBroadcast = Broadcast(name: "state observer", initialValue: .notRunning, holdingTasksIn: tasks) {
            $0 != .active
        }
        phaseBroadcast = Broadcast(name: "phase observer", holdingTasksIn: tasks) { $0 == .background }
    }

    /// Starts the application: installs its signal handlers, and then calls the launch callbacks.
    ///
    /// All pipelines, caches and views, also those created earlier, then follow the state of this application. May be
    /// called once, on any thread.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the application.
    ///   - delegate: The receiver of callbacks, which is retained.
    /// - Throws: `EideticError.Code.invalidArgument` if the configuration is out of range; `.refused` if the
    ///   application was started before.
    public func start(
        _ configuration: Configuration = Configuration(),
        delegate: (any ApplicationDelegate)? = nil
    ) throws(EideticError) {
        try configuration.validate()
        let isFirst = currentState.withLock { current in
            defer { current.isStarted = true }
            return !current.isStarted
        }
        guard isFirst else { throw EideticError(.refused, message: "the application was already started") }
        if self === Self.shared { DefaultEnvironment.shared.install(self) }
        let performer = EffectPerformer(
            application: self,
            configuration: configuration,
            delegate: delegate,
            inbox: inbox
        )
        LifecycleThread(performer: performer).start()
    }

    /// The current state of the application.
    public var state: ApplicationState { currentState.withLock { $0.state } }

    /// The reason why the previous process was killed for a violation, or terminated for lack of memory; otherwise
    /// `nil`.
    ///
    /// It is one line with the code of the kill (such as `0x8badf00d`), the reason, and the names of the open tasks. It
    /// is available from the launch callbacks on, and requires ``Configuration/identifier`` or a supervisor.
    public var previousExitReport: String? { currentState.withLock { $0.previousExitReport } }

    func setPreviousExitReport(_ report: String?) { currentState.withLock { $0.previousExitReport = report } }

    /// The current state and every later change; ends when the application is about to terminate.
    ///
    /// Each access returns a new stream. After a change, the process is neither suspended nor terminated until each
    /// waiting consumer has received it and requested the next value, for at most 5 s. A consumer that may not be
    /// waiting at that time, because it has just started or is still busy with ``ApplicationState/active``, should open
    /// its own background task.
    public var states: AsyncStream<ApplicationState> { stateBroadcast.stream(startingWithLatest: true) }

    /// A Boolean value indicating whether the application can run in the background.
    public var isMultitaskingSupported: Bool { inbox.isMultitaskingSupported }

    /// A Boolean value indicating whether a supervisor decides the lifecycle of the application.
    ///
    /// A supervisor can suspend the process, and launch it into the background. The value is `false` before the start,
    /// and after the supervisor has ended without a successor: the application then continues alone.
    public var isSupervised: Bool { inbox.isSupervised }

    /// Sets the presentation of the application to the user.
    ///
    /// It is called by windows and tests, and has no effect before the start. While the screen is locked, `active` is
    /// treated as `inactive`, and takes effect when the screen is unlocked. A job that a shell has stopped, or
    /// continued in the background, stays in the background.
    public func setPresentation(_ presentation: ApplicationPresentation) {
        switch presentation {
        case .active: inbox.post([.activate, .show])
        case .inactive: inbox.post([.deactivate, .show])
        case .background: inbox.post([.enterBackground])
        }
    }

    /// Requests the termination of the application, as SIGTERM does.
    public func terminate() { inbox.requestTermination() }

    /// Waits until the application terminates, and with it the process.
    ///
    /// Call it as the last statement of a program: a program that returns from its main function ends immediately, even
    /// with open tasks. If the application was not started, the process exits as soon as pending cache writes are
    /// complete.
    nonisolated(nonsending) public func waitUntilTerminated() async -> Never {
        // One that another thread starts at the same moment is not ended.
        if startToFinish() { terminate() }
        while true { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
    }

    /// Terminates the application; one that was not started is started for that.
    ///
    /// Its background tasks, those of the stores of the process among them, then have the grace period.
    package func finish() {
        _ = startToFinish()
        terminate()
    }

    /// Starts the application for its end; returns `false` if it was started before.
    private func startToFinish() -> Bool {
        var configuration = Configuration()
        configuration.followsTerminal = false
        configuration.usesLoginManager = false
        configuration.monitorsMemory = false
        return (try? start(configuration)) != nil
    }

    /// Posts a change of state, and returns whether it is one.
    @discardableResult
    func setState(_ state: ApplicationState) -> Bool {
        let changed = currentState.withLock { current in
            defer { current.state = state }
            return current.state != state
        }
        if changed { stateBroadcast.post(state) }
        return changed
    }

    /// Returns a new stream of the notices with a name.
    ///
    /// Notices held during suspension are delivered before any callback; a consumer may still be handling them when the
    /// callback arrives. ``Notice/Name`` lists the system's notices, which are posted only after the application was
    /// started.
    ///
    /// - Parameters:
    ///   - name: The kind of notices.
    ///   - suspensionBehavior: The treatment of notices while the application is suspended.
    /// - Returns: A stream of every later notice with this name.
    public func notices(
        named name: Notice.Name,
        suspensionBehavior: SuspensionBehavior = .coalesce
    ) -> AsyncStream<Notice> {
        let stream = noticeCenter.stream(for: name, behavior: suspensionBehavior)
        noticeSources.subscribe(to: name)
        inbox.wake()
        return stream
    }

    /// Posts a notice to all observers of its name.
    public func post(_ notice: Notice) { noticeCenter.post(notice) }

    /// Tells the supervisor that the application plays or records sound: it is not suspended in the background, and
    /// uses up no background time.
    ///
    /// This lasts until ``endAudio()`` has been called as often. Expired background tasks get no more time. A request
    /// to terminate is not delayed. It requires the background mode `audio`.
    public func beginAudio() { count(.audio, change: 1) }

    /// Tells the supervisor that the sound has ended; has no effect if it was not begun.
    public func endAudio() { count(.audio, change: -1) }

    /// Counts the reasons for an assertion, and makes it with the first one until the last one ends.
    func count(_ assertion: ContinuousAssertion, change: Int) {
        // Posted under the lock, so that the order of the events is that of the changes.
        activities.withLock { counts in
            let old = counts[assertion, default: 0]
            let new = max(0, old + change)
            counts[assertion] = new
            guard (old == 0) != (new == 0) else { return }
            inbox.post([.assertionChanged(assertion, isHeld: new > 0, process: .first)])
        }
    }

    /// Sets the function that draws the window after `applicationDidEnterBackground`, and after a completed wake.
    package func setSnapshotDrawing(_ draw: @escaping @MainActor @Sendable () -> [UInt8]?) {
        snapshots.withLock { $0.draw = draw }
    }

    /// A Boolean value indicating whether a snapshot is drawn in the background.
    var keepsSnapshot: Bool { snapshots.withLock { $0.draw != nil && $0.path != nil } }

    /// Draws the window, and replaces the file of the snapshot.
    @MainActor
    func saveSnapshot() {
        let snapshots = snapshots.withLock { $0 }
        guard let path = snapshots.path, let bytes = snapshots.draw?() else { return }
        do throws(SystemError) {
            try FileSystem().replaceContents(of: path, with: bytes, mode: 0o600)
        } catch {
            Log.write(.warning, category: .background, message: "no snapshot is kept: \(error)")
        }
    }
}

extension Application: ApplicationEnvironment {
    /// The last change between foreground and background, if there was one, and every later one; delays suspension and
    /// termination as ``states`` does.
    package var phases: AsyncStream<ApplicationPhase> { phaseBroadcast.stream(startingWithLatest: true) }

    /// The changes of memory pressure, including the return to normal; the stream begins with the latest change, if
    /// there was one.
    public var memoryPressure: AsyncStream<MemoryPressure> { pressureBroadcast.stream(startingWithLatest: true) }
}

/// The means to keep an image of the application's window for a switcher.
struct Snapshots: Sendable {
    /// Draws the window; returns the bytes of an image file, or `nil` if there is nothing to draw.
    var draw: (@MainActor @Sendable () -> [UInt8]?)?
    /// The file for the image; `nil` without a supervisor that keeps one.
    var path: String?
}
