package import EideticLifecycle
import EideticSupervision

/// An application as its components see it: values of one moment, and functions for the rest.
package struct ApplicationView {
    /// The current process.
    package struct Process {
        package var identity: ProcessIdentity
        /// A Boolean value indicating whether the application knows its page, and receives messages.
        package var isWelcomed = true
        /// The number of the first process.
        package var number: Int32 = 0
        package var isIdleReportRequested = false
        package var isSuspended = false
        package var isBeingKilled = false
        package var isThrottled = false
        /// The explanation of a start that has not reached the program yet.
        package var slowStart: String?
        /// Reads the number of open tasks that the application states.
        package var openTasks: () -> Int = { 0 }
        /// Returns whether it is the foreground job of its terminal; `nil` if it has none.
        package var isForegroundJob: () -> Bool? = { nil }
        package var identifiers: () -> [Int32] = { [] }
        /// The processor time of all processes since their start.
        package var processorTime: () -> Duration = { .zero }

        package init(_ identity: ProcessIdentity) { self.identity = identity }
    }

    /// The time of the moment.
    package var now: Duration
    package var lifecycle: Lifecycle
    /// The process; `nil` if none runs.
    package var process: Process?
    package var hasProgram = true
    /// A Boolean value indicating whether a desktop entry declares that the application knows the supervisor.
    package var isDeclared = false
    /// A Boolean value indicating whether something is left of earlier processes.
    package var hasLeftovers = false
    /// A Boolean value indicating whether the process of an earlier supervisor has not connected.
    package var isAdopting = false
    /// A Boolean value indicating whether the process is taken for a program that does not know the supervisor.
    package var isPlain = false
    /// A Boolean value indicating whether a wake for data on a socket is under way.
    package var isWokenForData = false
    /// A Boolean value indicating whether there is a connection to the message bus of the user.
    package var hasBus = false
    /// The servers of which the suspended application has something to read.
    package var unreadSources: () -> Set<ShortThaws.Source> = { [] }
    /// The bytes that the suspended application has not read, for each server to which it is connected.
    package var unreadCounts: () -> [ShortThaws.Source: Int] = { [:] }
    /// The processes that play or record sound; `nil` if no sound server answers.
    package var playingProcesses: () -> Set<Int32>? = { nil }
    package var scheduleTime: () -> ScheduleTime = { ScheduleTime(steady: 0, local: 0) }
    package var conditions: () -> TaskConditions = { TaskConditions() }
    package var programFile: () -> WakeCrashes.ProgramFile? = { nil }
    /// Explains why a mode may not be used that is not declared.
    package var explanation: (_ mode: DeclaredMode) -> String = { $0.rawValue }

    package init(_ lifecycle: Lifecycle, process: Process? = nil, at now: Duration = .zero) {
        self.now = now
        self.lifecycle = lifecycle
        self.process = process
    }

    /// Returns the refusal of a mode that the application does not declare.
    ///
    /// - Parameters:
    ///   - mode: The mode.
    ///   - number: The number of the request that is answered; 0 for none.
    /// - Returns: The effects of the refusal; `nil` if the application declares the mode.
    package func refusal(of mode: DeclaredMode, number: UInt64 = 0) -> [ApplicationEffect]? {
        let isDeclared =
            mode.wakeKind.map(lifecycle.rules.declaredWakeKinds.contains)
            ?? mode.assertion.map(lifecycle.rules.declaredAssertions.contains)
        guard isDeclared == false else { return nil }
        let answer = ApplicationEffect.send(.wakes(.task(.notPermitted, number: number)))
        return [.refuse(because: explanation(mode)), answer]
    }

    /// The event for a number of open tasks that differs from the one that the state machine knows.
    package var taskCountChange: LifecycleEvent? {
        guard let process, process.isWelcomed, !process.isSuspended else { return nil }
        return LifecycleEvent(openTasks: process.openTasks(), of: process.identity, unknownTo: lifecycle)
    }
}

extension ApplicationView {
    init(of application: SupervisedApplication) {
        let context = application.context
        let components = application.components
        let program = application.program
        let executable = program.description?.executable
        self.init(
            application.lifecycle,
            process: application.process.map { Process(of: $0) },
            at: Clock.now
        )
        hasProgram = program.isKnown
        isDeclared = program.manifest.manifest != nil
        explanation = program.manifest.explanation
        hasLeftovers = !components.leftovers.processes.isEmpty
        isAdopting = components.adoption.record != nil
        isPlain = components.plain.isRunning
        isWokenForData = components.wakes.isActive(.voip)
        scheduleTime = { context.clock.now }
        conditions = { MachineConditions.current }
        programFile = { WakeCrashes.ProgramFile(at: executable) }
        hasBus = context.desktop?.session?.connection != nil
        unreadSources = { [unowned application] in application.process?.callers.unreadSources ?? [] }
        unreadCounts = { [unowned application] in application.process?.callers.unreadCounts ?? [:] }
        playingProcesses = { [sound = context.sound] in sound.playingProcesses }
    }
}

extension ApplicationView.Process {
    fileprivate init(of process: RunningProcess) {
        self.init(process.identity)
        isWelcomed = process.conversation.isOpen
        number = process.handle.identifier
        isIdleReportRequested = process.conversation.isIdleReportRequested
        isForegroundJob = { [number] in ProcessStatus(of: number)?.isForegroundJob }
        isSuspended = process.suspensions.start != nil
        isBeingKilled = process.reasons.kill != nil
        isThrottled = process.isThrottled
        openTasks = { [page = process.page] in page.openTasks }
        slowStart = process.slowStart
        identifiers = { [freezer = process.freezer] in freezer.processes }
        processorTime = { [freezer = process.freezer] in freezer.usedProcessorTime }
    }
}
