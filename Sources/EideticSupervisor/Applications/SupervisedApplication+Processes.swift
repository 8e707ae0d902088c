import EideticCore
import EideticWire
import Glibc
import LifecycleCore

// The births and ends of processes.
extension SupervisedApplication {
    func spawn(_ identity: ProcessIdentity) {
        processNumber += 1
        // Before the birth, so that a successor finds a process that was just born.
        saveIntention(ApplicationRecord.ProcessRecord())
        do throws(SystemError) {
            guard let program else { throw SystemError(.open, errorNumber: ENOENT, path: "no program is known") }
            let process = try start(program, identity: identity)
            adoptProcess(process)
            log("launched: process \(process.handle.identifier), freezer \(process.freezer.kind.rawValue)")
        } catch {
            log("cannot start: \(error)")
            lastObstacle = "it cannot be started: \(error)"
            handle(.processDidNotStart(identity))
        }
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

    private func start(_ program: ProgramDescription, identity: ProcessIdentity) throws(SystemError) -> RunningProcess {
        let token = SupervisorContext.makeToken(length: SupervisionProtocol.tokenLength)
        let pagePath = "\(context.directory.directory(of: identifier))/page.\(processNumber)"
        unlink(pagePath)
        let page = try SharedPageFile.create(at: pagePath, generation: context.generation, token: token)
        let (own, inherited) = try PacketSocket.makePair()
        var places = ProgramLaunch.Places()
        places.socket = inherited.rawValue
        let group = makeGroup()
        (places.group, places.isSubreaper) = (group?.descriptor ?? -1, group == nil)
        let handle = try ProgramLaunch(supervised(program)).start(at: places)
        let process = RunningProcess(
            number: processNumber,
            identity: identity,
            handle: handle,
            freezer: freezer(of: handle, in: group),
            page: page,
            pagePath: pagePath,
            token: token
        )
        attach(own, to: process)
        return process
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
        group.setRoot(handle, mark: mark)
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
        guard ended.end == nil, let end = ended.handle.takeEnd() else { return }
        context.firstProcesses.remove(ended.handle.identifier)
        // What it said last is heard before its end.
        ended.connection?.readPending()
        ended.connection?.close()
        (ended.end, ended.watch, ended.connection) = (end, nil, nil)
        // The whole tree ends with its first process.
        ended.freezer.kill()
        leftovers.append(ended)
        if process === ended { (process, adoptionDeadline, adoptedRecord, freezeCheck) = (nil, nil, nil, nil) }
        handle(.processExited(ended.identity, status: end.waitStatus))
        handleWaitingRequests()
        removalCheck = (Clock.now, .milliseconds(1))
        removeLeftovers()
    }

    /// Removes the control groups and pages of processes of which nothing is left.
    func removeLeftovers() {
        leftovers.removeAll { $0.remove() }
        guard let check = removalCheck, !leftovers.isEmpty else { return removalCheck = nil }
        for left in leftovers where !left.freezer.processes.isEmpty { left.freezer.kill() }
        let pause = min(check.pause * 2, .seconds(30))
        removalCheck = (Clock.now + pause, pause)
    }
}
