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
            let limiter = context.limiter(of: process.handle.identifier)
            let connection = Connection(socket: socket, poller: context.poller, limiter: limiter)
            attach(connection, to: process)
            connection.start()
            adoptProcess(process)
            process.watch(report, with: context.poller) { [unowned self, unowned process] in readStart(of: process) }
            // A successor finds the process by its number before it runs the program, and starts no second one.
            saveRecord()
            report.permitStart()
        } catch {
            reportStartFailure("\(error)")
            handle(.processDidNotStart(identity))
        }
    }

    /// Takes a process under supervision that somebody else has started.
    func connect(_ handle: ProcessHandle, connection: Connection, hello: Hello) throws(SystemError) {
        processNumber += 1
        try context.directory.makeDirectory(of: identifier)
        let page = try place.makePage()
        // Before the process is moved: a successor must know it.
        var intention = ApplicationRecord.ProcessRecord()
        intention.identifier = handle.identifier
        intention.startTime = handle.startTime
        intention.isBackgroundLaunch = hello.presentation?.isVisible == false
        guard saveIntention(intention) else {
            page.remove()
            throw SystemError(.write, errorNumber: ENOSPC, path: context.directory.recordPath(of: identifier))
        }
        let identity = ProcessIdentity(rawValue: lifecycle.process.rawValue &+ 1)
        let process = place.process(handle, identity: identity, group: place.gather(handle), page: page)
        process.isBackgroundLaunch = intention.isBackgroundLaunch
        attach(connection, to: process)
        adoptProcess(process)
        log("connected: process \(handle.identifier), freezer \(process.freezer.kind.rawValue)")
        introduceProcess(by: .processConnected(inBackground: process.isBackgroundLaunch))
    }

    /// Reads whether the program of a new process has started.
    private func readStart(of process: RunningProcess) {
        switch process.takeStart(ofProgram: program.description?.executable ?? "") {
        case .started:
            log("launched: process \(process.handle.identifier), freezer \(process.freezer.kind.rawValue)")
            tell(.settled)
        case .killed(let report): perform(components.launches.complete(.failed(report)))
        case .failed, nil: break
        }
    }

    private func reportStartFailure(_ reason: String) {
        let obstacle = "it cannot be started: \(reason)"
        log("cannot start: \(reason)")
        lastObstacle = obstacle
        perform(components.launches.complete(.failed(obstacle)))
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
        readStart(of: ended)
        // The whole tree ends with its first process, whose session is known until then.
        ended.freezer.kill()
        guard let end = ended.takeEnd() else { return }
        context.firstProcesses.remove(ended.handle.identifier)
        if process === ended, let answer = ended.launchAnswer { perform(components.launches.complete(answer)) }
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
