import EideticCore
import EideticSupervision
import Glibc
import EideticLifecycle

// The births and ends of processes.
extension SupervisedApplication {
    /// The places of the process that was started last.
    var place: ProcessPlace { ProcessPlace(context: context, identifier: identifier, number: processNumber) }

    func spawn(_ identity: ProcessIdentity) {
        processNumber += 1
        // Before the birth, so that a successor finds a process that was just born.
        saveIntention(ApplicationRecord.ProcessRecord())
        do throws(SystemError) {
            guard let program = program.description else {
                throw SystemError(.open, errorNumber: ENOENT, path: self.program.missing)
            }
            let (process, socket, report) = try place.start(program, identity: identity)
            attach(socket, to: process)
            adoptProcess(process)
            let watch = context.poller.watch(report.rawValue) { [unowned self, unowned process] in
                self.readStartReport(of: process)
            }
            process.start = (report, watch)
            // A successor finds the process by its number before it runs the program, and starts no second one.
            saveRecord()
            report.permitStart()
        } catch {
            reportStartFailure("\(error)")
            handle(.processDidNotStart(identity))
        }
    }

    /// Reads whether the program of a new process has started.
    private func readStartReport(of process: RunningProcess) {
        guard let outcome = process.start?.report.take() else { return }
        process.start = nil
        switch outcome {
        // The report is empty as well if the process was killed before.
        case .started where process.reasons.kill != nil: answerLaunches(.failed(process.reasons.kill ?? ""))
        case .started where ProcessStatus(of: process.handle.identifier)?.hasExecuted == false:
            process.reasons.failedStart =
                "process \(process.handle.identifier) was killed before it had started its program"
        case .started:
            log("launched: process \(process.handle.identifier), freezer \(process.freezer.kind.rawValue)")
            tell(.settled)
        case .failed(let error):
            let path = program.description?.executable ?? ""
            process.reasons.failedStart = "\(SystemError(.open, errorNumber: error, path: path))"
            // The reason of its end is then that of the kill.
            if let report = process.reasons.kill { answerLaunches(.failed(report)) }
        }
    }

    private func reportStartFailure(_ reason: String) {
        log("cannot start: \(reason)")
        lastObstacle = "it cannot be started: \(reason)"
        answerLaunches(.failed(lastObstacle ?? reason))
    }

    private func answerLaunches(_ answer: LaunchRequests.Answer) { perform(components.launches.complete(answer)) }

    /// Answers the launches of a program that has ended, and has not connected.
    private func answerLaunches(of ended: RunningProcess, after end: ProcessEnd) {
        guard ended.reasons.failedStart == nil else { return }
        let text = "process \(ended.handle.identifier) has ended and not connected: \(end.explanation)"
        if let report = ended.reasons.kill { return answerLaunches(.failed(report)) }
        answerLaunches(end == .exited(0) ? .note(text) : .failed(text))
    }

    /// Records the process that is about to become the current one; returns `false` if the record cannot be written.
    @discardableResult
    func saveIntention(_ process: ApplicationRecord.ProcessRecord) -> Bool {
        var (record, process) = (ApplicationRecord(of: self), process)
        process.freezer = context.hierarchy == nil ? .signals : .group
        process.groupPath = place.groupPath
        process.intention = ApplicationRecord.Intention(of: self)
        record.process = process
        return files.save(record)
    }

    /// Makes a process the current one, and watches for its end.
    func adoptProcess(_ next: RunningProcess) {
        process = next
        context.firstProcesses.insert(next.handle.identifier)
        next.watch = context.poller.watch(next.handle.rawValue) { [unowned self, unowned next] in
            self.processDidEnd(next)
        }
        tell(.processChanged)
    }

    private func processDidEnd(_ ended: RunningProcess) {
        guard ended.end == nil, ended.handle.hasEnded else { return }
        // Before it is collected: the kernel knows until then whether it had started its program.
        readStartReport(of: ended)
        guard let end = ended.handle.takeEnd() else { return }
        context.firstProcesses.remove(ended.handle.identifier)
        // What it said last is heard before its end.
        ended.connection?.readPending()
        ended.connection?.close()
        ended.end = end
        ended.watch = nil
        ended.connection = nil
        ended.callers.forget()
        if process === ended { answerLaunches(of: ended, after: end) }
        // The whole tree ends with its first process.
        ended.freezer.kill()
        components.leftovers.add(ended)
        if process === ended {
            if let intention = components.adoption.record?.intention { keepRequests(of: intention) }
            components.adoption.end()
            process = nil
        }
        tell(.processChanged)
        // What a process has asked for does not hold for the next one.
        refreshManifest()
        applyDeclarations()
        report(end, of: ended)
        handleWaitingRequests()
        perform(components.leftovers.clear(at: Clock.now))
    }

    /// Passes the end of a process to the state machine, if it knows the process.
    private func report(_ end: ProcessEnd, of ended: RunningProcess) {
        guard lifecycle.expectsExit(of: ended.identity) else {
            saveExitReport(of: ended)
            reportEnd(ended.reasonOfEnd)
            return saveRecord()
        }
        guard let failure = ended.reasons.failedStart, lifecycle.adoptableState == nil, ended.reasons.kill == nil else {
            return handle(.processExited(ended.identity, status: end.waitStatus))
        }
        reportStartFailure(failure)
        handle(.processDidNotStart(ended.identity))
    }
}
