import EideticCore
import EideticLifecycle
import EideticSupervision

extension ApplicationRecord {
    /// The record of an application at this moment, or with the process that is about to become the current one.
    init(of application: SupervisedApplication, expecting next: ProcessRecord? = nil) {
        let lifecycle = application.lifecycle
        let components = application.components
        program = application.program.installed
        wasForceQuit = lifecycle.history.wasForceQuit
        launchCrashCount = UInt32(clamping: lifecycle.history.launchCrashCount)
        wakeCrashCounts = lifecycle.history.wakeCrashCounts.mapValues { UInt32(clamping: $0) }
        processNumber = application.processes.number
        // Until the process has connected, the earlier record is the best that is known.
        process = application.process.map { components.adoption.record ?? ProcessRecord(of: $0, in: application) }
        if var next {
            next.intention = Intention(of: application)
            process = next
        }
        waitingWakes = lifecycle.waiting.wakes.map(\.accepted)
        waitingURLs = lifecycle.waiting.urls.map(components.urls.record(of:))
        waitingLaunch = lifecycle.waiting.isVisible.map { $0 ? .foreground : .background }
        for request in components.adoption.requests { add(request, urlRecord: components.urls.record(of:)) }
    }
}

extension ApplicationRecord.ProcessRecord {
    fileprivate init(of process: RunningProcess, in application: SupervisedApplication) {
        identifier = process.handle.identifier
        startTime = process.handle.startTime
        freezer = process.freezer.kind
        state = application.lifecycle.adoptableState
        isBackgroundLaunch = process.isBackgroundLaunch
        isPlain = application.components.plain.isRunning
        assertions = application.lifecycle.stay.assertions
        declarations = process.conversation.declarations
        suspensionTime = process.suspensions.start
        killReport = process.reasons.kill
        groupPath = (process.freezer as? GroupFreezer)?.path
        memoryPriorities = process.memoryPriorities.chosen
        intention = ApplicationRecord.Intention(of: application)
        progressNumbers = application.components.work.shownNumbers
    }
}

extension ApplicationRecord.Intention {
    /// The requests that a successor carries out, as this supervisor does.
    fileprivate init(of application: SupervisedApplication) {
        let lifecycle = application.lifecycle
        isVisible = lifecycle.facts.isVisible
        isFocused = lifecycle.facts.hasFocus
        isTerminating = lifecycle.state == .terminating
        graceEnd = isTerminating ? lifecycle.stay.graceDeadline : nil
        // One that the application has received is under way, whatever becomes of this process.
        let conversation = application.process?.conversation
        let pending = conversation?.pendingCallback
        let isReceived = conversation?.isOpen == true
        urls = lifecycle.waitingURLs.filter { !isReceived || pending != .openURL($0) }
            .map(application.components.urls.record(of:))
        wakes = lifecycle.acceptedWakes.filter { wake in
            !wake.isDelivered || !isReceived && pending == .wake(wake.reason)
        }.map(\.accepted)
        presentation = conversation?.presentation
    }
}
