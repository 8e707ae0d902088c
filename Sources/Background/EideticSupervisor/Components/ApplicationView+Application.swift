import EideticLifecycle
import EideticSupervision

extension ApplicationView {
    /// An application at this moment.
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
        openTasks = process.page.openTasks
        slowStart = process.slowStart
        identifiers = { [freezer = process.freezer] in freezer.processes }
        processorTime = { [freezer = process.freezer] in freezer.usedProcessorTime }
    }
}
