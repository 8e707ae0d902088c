import EideticCore
import EideticLifecycle
import EideticSupervision
import Glibc

/// The places of one process of an application: its control group, its shared page, and its mark in the environment.
struct ProcessPlace {
    let context: SupervisorContext
    let identifier: String
    /// The number of the process among those of its application.
    let number: UInt64

    /// The control group; `nil` if signals are used.
    var groupPath: String? { context.hierarchy.map { "\($0.path)/\(identifier)@\(number)" } }

    var pagePath: String { "\(context.directory.directory(of: identifier))/page.\(number)" }

    /// The value that marks the processes of the launch in their environment.
    private var mark: String { "\(context.directory.path) \(identifier)@\(number)" }

    private func log(_ text: String) { context.log.append(text, for: identifier) }

    // MARK: A new process

    /// Makes a process that waits for the permission to start its program; returns it with the socket that leads to it,
    /// and the report of its birth.
    func start(_ program: ProgramDescription, identity: ProcessIdentity) throws(SystemError)
        -> (RunningProcess, PacketSocket, StartReport)
    {
        let page = try makePage()
        let (own, inherited) = try PacketSocket.makePair()
        let group = makeGroup()
        var places = ProgramLaunch.Places()
        places.socket = inherited.rawValue
        places.group = group?.descriptor ?? -1
        let (handle, report) = try ProgramLaunch(supervised(program)).begin(at: places)
        return (process(handle, identity: identity, group: group, page: page), own, report)
    }

    /// Returns a process with its freezer: its group, or else signals.
    func process(
        _ handle: ProcessHandle,
        identity: ProcessIdentity,
        group: GroupFreezer?,
        page: TaskPage
    ) -> RunningProcess {
        RunningProcess(
            number: number,
            identity: identity,
            handle: handle,
            freezer: freezer(of: handle, in: group),
            page: page,
            conversation: Conversation(after: context.firstNumber),
            log: { [context, identifier] in context.log.append($0, for: identifier) }
        )
    }

    private func freezer(of handle: ProcessHandle, in group: GroupFreezer?) -> any Freezer {
        guard let group else { return signals(for: handle) }
        group.setRoot(
            handle,
            mark: mark,
            isForeign: { [context] in context.firstProcesses.contains($0) },
            orphans: { [context] in context.orphans }
        )
        return group
    }

    private func signals(for handle: ProcessHandle) -> SignalFreezer {
        SignalFreezer(root: handle, mark: mark, isForeign: { [context] in context.firstProcesses.contains($0) })
    }

    /// Makes a page in place of one that is left there.
    func makePage() throws(SystemError) -> TaskPage {
        unlink(pagePath)
        let token = SupervisorContext.makeToken(length: SupervisionProtocol.tokenLength)
        let file = try SharedPageFile.create(at: pagePath, generation: context.generation, token: token)
        return TaskPage(file, at: pagePath, token: token)
    }

    private func makeGroup() -> GroupFreezer? {
        guard let groupPath else { return nil }
        do throws(SystemError) {
            return try GroupFreezer(path: groupPath)
        } catch {
            log("no control group, SIGSTOP is used: \(error)")
            return nil
        }
    }

    private func supervised(_ program: ProgramDescription) -> ProgramDescription {
        var program = program
        let variables = [
            (SupervisionProtocol.descriptorVariable, "\(ProgramLaunch.socketDescriptor)"),
            (SupervisionProtocol.runtimeDirectoryVariable, context.directory.path),
            (SignalFreezer.markName, mark),
        ]
        program.environment.removeAll { line in variables.contains { line.rest(behind: "\($0.0)=") != nil } }
        program.environment += variables.map { "\($0)=\($1)" }
        return program
    }

    // MARK: A process of somebody else

    /// Moves a process and its descendants into a control group; `nil` if that is not allowed.
    func gather(_ handle: ProcessHandle) -> GroupFreezer? {
        guard let groupPath, let group = try? GroupFreezer(path: groupPath) else { return nil }
        let tree = signals(for: handle)
        // A child may be born meanwhile, outside of the group.
        for _ in 0..<10 {
            let outside = Set(tree.processes).subtracting(group.processes)
            if outside.isEmpty { return group }
            let isMoved = outside.allSatisfy { process in
                (try? KernelFile.write("\(process)", to: "\(groupPath)/cgroup.procs")) != nil
            }
            guard isMoved else {
                _ = group.remove()
                return nil
            }
        }
        return group
    }

    // MARK: A process of an earlier supervisor

    /// Opens the recorded process; `nil` if it has ended, or cannot be supervised.
    func open(_ found: ApplicationRecord.ProcessRecord, identity: ProcessIdentity) -> RunningProcess? {
        let group = found.freezer == .group ? openGroup(of: found) : nil
        guard let handle = openHandle(found, in: group) else {
            group?.kill()
            _ = group?.remove()
            return nil
        }
        guard let page = openPage() ?? (try? makePage()) else {
            freezer(of: handle, in: group).thaw()
            log("process \(handle.identifier) cannot be supervised, as its page cannot be opened: it runs on alone")
            return nil
        }
        let process = process(handle, identity: identity, group: group, page: page)
        process.restore(found)
        return process
    }

    /// Opens the control group that the earlier supervisor has recorded, or else that in which the kernel has the
    /// process: this supervisor may make its own groups elsewhere.
    private func openGroup(of found: ApplicationRecord.ProcessRecord) -> GroupFreezer? {
        let recorded = found.groupPath.flatMap { try? GroupFreezer(existing: $0) }
        if let recorded, found.identifier <= 0 || recorded.processes.contains(found.identifier) { return recorded }
        if let path = GroupHierarchy.group(of: found.identifier), path.hasSuffix("/\(identifier)@\(number)"),
            let group = try? GroupFreezer(existing: path)
        {
            return group
        }
        return recorded
    }

    /// Opens the recorded process, or the one that was born before its number was recorded.
    private func openHandle(_ found: ApplicationRecord.ProcessRecord, in group: GroupFreezer?) -> ProcessHandle? {
        if found.identifier > 0 { return ProcessHandle(identifier: found.identifier, startTime: found.startTime) }
        let marked = group?.processes ?? markedProcesses
        return marked.compactMap { ProcessStatus(of: $0) }.min { $0.startTime < $1.startTime }
            .flatMap { ProcessHandle(identifier: $0.identifier, startTime: $0.startTime) }
    }

    private var markedProcesses: [Int32] {
        ProcessStatus.all.map(\.identifier).filter { process in
            ProcessStatus.environmentValue(of: SignalFreezer.markName, in: process) == mark
        }
    }

    /// Opens the page of the earlier supervisor; `nil` if it is damaged.
    private func openPage() -> TaskPage? {
        guard let file = try? SharedPageFile.open(at: pagePath), let first = file[.token], let second = file[.tokenEnd]
        else { return nil }
        let token = [first, second].flatMap { word in
            (0..<8).reversed().map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
        }
        return TaskPage(file, at: pagePath, token: token)
    }

    /// Kills what is left of the tree of an ended process that signals have stopped.
    ///
    /// The mark in the environment alone is not enough, as every program inherits it: an orphan is a process of this
    /// user, no older than the ended one, and not the first one of another application.
    func killOrphans(of found: ApplicationRecord.ProcessRecord) {
        guard found.freezer == .signals else { return }
        for process in markedProcesses where !context.firstProcesses.contains(process) {
            guard let status = ProcessStatus(of: process), status.startTime >= found.startTime,
                ProcessStatus.user(of: process) == geteuid()
            else { continue }
            ProcessHandle(identifier: process, startTime: status.startTime)?.signal(SIGKILL)
        }
    }
}
