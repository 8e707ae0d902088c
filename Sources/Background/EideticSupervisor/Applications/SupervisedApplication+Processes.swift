import EideticCore
import EideticSupervision
import Glibc
import EideticLifecycle

// The births and ends of processes.
extension SupervisedApplication {
    func spawn(_ identity: ProcessIdentity) {
        processNumber += 1
        // Before the birth, so that a successor finds a process that was just born.
        saveIntention(ApplicationRecord.ProcessRecord())
        do throws(SystemError) {
            guard let program = launchProgram else {
                throw SystemError(.open, errorNumber: ENOENT, path: missingProgram)
            }
            let (process, report) = try start(program, identity: identity)
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
        case .started where process.killReport != nil: answerLaunches(failure: process.killReport)
        case .started where ProcessStatus(of: process.handle.identifier)?.hasExecuted == false:
            process.startFailure = "process \(process.handle.identifier) was killed before it had started its program"
        case .started:
            log("launched: process \(process.handle.identifier), freezer \(process.freezer.kind.rawValue)")
            answerLaunches(failure: nil)
        case .failed(let error):
            process.startFailure = "\(SystemError(.open, errorNumber: error, path: launchProgram?.executable ?? ""))"
            // The reason of its end is then that of the kill.
            if let report = process.killReport { answerLaunches(failure: report) }
        }
    }

    private func reportStartFailure(_ reason: String) {
        log("cannot start: \(reason)")
        lastObstacle = "it cannot be started: \(reason)"
        answerLaunches(failure: lastObstacle)
    }

    /// Answers the requests for a launch that wait for the start of the program.
    func answerLaunches(failure: String?) {
        let answers = launchAnswers
        (launchAnswers, launchAnswerTime) = ([], nil)
        for answer in answers { answer(failure) }
    }

    /// Answers a launch when the program has started, or cannot start, or takes long; returns `false` if it has started
    /// already, or if too many requests wait.
    func answerLaunch(with answer: @escaping (String?) -> Void) -> Bool {
        guard process?.start != nil, launchAnswers.count < Self.maximumWaitingRequests else { return false }
        launchAnswers.append(answer)
        launchAnswerTime = launchAnswerTime ?? Clock.now + context.configuration.launchAnswerLimit
        return true
    }

    /// The explanation of a start that takes long; `nil` if the program runs.
    var slowStart: String? {
        guard let process, process.start != nil else { return nil }
        return
            "process \(process.handle.identifier) has not started its program yet: \(launchProgram?.executable ?? "")"
    }

    /// Records the process that is about to become the current one; returns `false` if the record cannot be written.
    @discardableResult
    func saveIntention(_ process: ApplicationRecord.ProcessRecord) -> Bool {
        var (intention, process) = (record, process)
        process.freezer = context.hierarchy == nil ? .signals : .group
        process.groupPath = context.groupPath(of: identifier, number: processNumber)
        process.intention = self.intention
        intention.process = process
        return save(intention)
    }

    private func start(_ program: ProgramDescription, identity: ProcessIdentity) throws(SystemError)
        -> (RunningProcess, StartReport)
    {
        let token = SupervisorContext.makeToken(length: SupervisionProtocol.tokenLength)
        let pagePath = "\(context.directory.directory(of: identifier))/page.\(processNumber)"
        unlink(pagePath)
        let page = try SharedPageFile.create(at: pagePath, generation: context.generation, token: token)
        let (own, inherited) = try PacketSocket.makePair()
        var places = ProgramLaunch.Places()
        places.socket = inherited.rawValue
        let group = makeGroup()
        (places.group, places.isSubreaper) = (group?.descriptor ?? -1, group == nil)
        let (handle, report) = try ProgramLaunch(supervised(program)).begin(at: places)
        let process = RunningProcess(
            number: processNumber,
            identity: identity,
            handle: handle,
            freezer: freezer(of: handle, in: group),
            page: page,
            pagePath: pagePath,
            token: token,
            configuration: context.configuration
        )
        attach(own, to: process)
        return (process, report)
    }

    /// Returns the group as the freezer of a process; without one, signals are used.
    func freezer(of handle: ProcessHandle, in group: GroupFreezer?) -> any Freezer {
        let mark = mark(of: processNumber)
        guard let group else {
            return SignalFreezer(
                root: handle,
                mark: mark,
                isForeign: { [context] in context.firstProcesses.contains($0) }
            )
        }
        group.setRoot(
            handle,
            mark: mark,
            isForeign: { [context] in context.firstProcesses.contains($0) },
            orphans: { [context] in context.orphans }
        )
        return group
    }

    /// The value that marks the processes of one launch in their environment.
    func mark(of number: UInt64) -> String { "\(context.directory.path) \(identifier)@\(number)" }

    private func supervised(_ program: ProgramDescription) -> ProgramDescription {
        var program = program
        let names = [
            SupervisionProtocol.descriptorVariable, SupervisionProtocol.runtimeDirectoryVariable,
            SignalFreezer.markName,
        ]
        program.environment.removeAll { line in names.contains { line.hasPrefix("\($0)=") } }
        program.environment += [
            "\(names[0])=\(ProgramLaunch.socketDescriptor)", "\(names[1])=\(context.directory.path)",
            "\(names[2])=\(mark(of: processNumber))",
        ]
        return program
    }

    private func makeGroup() -> GroupFreezer? {
        guard let path = context.groupPath(of: identifier, number: processNumber) else { return nil }
        do throws(SystemError) {
            return try GroupFreezer(path: path)
        } catch {
            log("no control group, SIGSTOP is used: \(error)")
            return nil
        }
    }

    /// Makes a process the current one, and watches for its end.
    func adoptProcess(_ next: RunningProcess) {
        process = next
        context.firstProcesses.insert(next.handle.identifier)
        next.watch = context.poller.watch(next.handle.rawValue) { [unowned self, unowned next] in
            self.processDidEnd(next)
        }
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
        (ended.end, ended.watch, ended.connection) = (end, nil, nil)
        endContinuedWork(of: ended)
        // The whole tree ends with its first process.
        ended.freezer.kill()
        leftovers.append(ended)
        if process === ended, let intention = adoptedRecord?.intention { keepRequests(of: intention) }
        if process === ended { (process, adoptionDeadline, adoptedRecord, freezeCheck) = (nil, nil, nil, nil) }
        (namesTime, terminalCheck) = (nil, nil)
        // What a process has asked for does not hold for the next one.
        refreshManifest()
        applyDeclarations()
        report(end, of: ended)
        handleWaitingRequests()
        removalCheck = (Clock.now, .milliseconds(1))
        removeLeftovers()
    }

    /// Passes the end of a process to the state machine, if it knows the process.
    private func report(_ end: ProcessEnd, of ended: RunningProcess) {
        guard lifecycle.expectsExit(of: ended.identity) else {
            saveExitReport(of: ended)
            reportEnd(ended.reasonOfEnd ?? Self.text(of: end))
            return saveRecord()
        }
        guard let failure = ended.startFailure, lifecycle.adoptableState == nil, ended.killReport == nil else {
            return handle(.processExited(ended.identity, status: end.waitStatus))
        }
        reportStartFailure(failure)
        handle(.processDidNotStart(ended.identity))
    }

    /// Removes the control groups and pages of processes of which nothing is left.
    func removeLeftovers() {
        leftovers.removeAll { $0.remove() }
        context.changeCount &+= 1
        guard let check = removalCheck, !leftovers.isEmpty else { return removalCheck = nil }
        for left in leftovers where !left.freezer.processes.isEmpty { left.freezer.kill() }
        let pause = min(check.pause * 2, .seconds(30))
        removalCheck = (Clock.now + pause, pause)
    }
}
