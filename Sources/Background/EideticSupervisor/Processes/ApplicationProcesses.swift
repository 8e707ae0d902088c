import EideticCore
import EideticLifecycle
import EideticSupervision
import Glibc

/// The processes of an application: the current one, from its birth or takeover to its end.
final class ApplicationProcesses {
    /// A report about a process.
    enum Report {
        /// Another process is the current one, or none is.
        case changed
        case started
        /// A process was killed before its program was started, for a reason.
        case failedToStart(String)
        /// A process has ended, which was the current one, or an earlier one.
        case ended(RunningProcess, ProcessEnd, isCurrent: Bool)
    }

    typealias Receiver = (ApplicationMessage, PacketSocket.Packet, RunningProcess) throws(WireError) -> Void

    private let context: SupervisorContext
    private let identifier: String
    /// The current process; `nil` if none runs.
    private(set) var current: RunningProcess? { didSet { context.changeCount &+= 1 } }
    var number: UInt64 = 0
    /// Called with each report.
    var report: (Report) -> Void = { _ in }
    /// Called with each message of the current process, which is not trusted.
    var receive: Receiver = { _, _, _ in }

    init(of identifier: String, in context: SupervisorContext) {
        self.identifier = identifier
        self.context = context
    }

    /// The places of the process that was started last.
    private var place: ProcessPlace { ProcessPlace(context: context, identifier: identifier, number: number) }

    // MARK: Births

    /// Numbers another process; returns its record until it runs.
    func prepare() -> ApplicationRecord.ProcessRecord {
        number += 1
        var record = ApplicationRecord.ProcessRecord()
        record.freezer = context.hierarchy == nil ? .signals : .group
        record.groupPath = place.groupPath
        return record
    }

    /// Makes the process that was prepared the current one; it starts its program when the report permits that.
    func start(_ program: ProgramDescription, identity: ProcessIdentity) throws(SystemError) -> StartReport {
        let (process, socket, birth) = try place.start(program, identity: identity)
        let limiter = context.limiter(of: process.handle.identifier)
        let connection = Connection(socket: socket, poller: context.poller, limiter: limiter)
        attach(connection, to: process)
        connection.start()
        adopt(process)
        process.await(birth, of: program.executable, with: context.poller) { [unowned self, unowned process] in
            readStart(of: process)
        }
        return birth
    }

    /// Takes a process under supervision that somebody else has started; `save` writes its record before it is moved,
    /// as a successor must know it.
    func connect(
        _ handle: ProcessHandle,
        over connection: Connection,
        as identity: ProcessIdentity,
        inBackground: Bool,
        save: (ApplicationRecord.ProcessRecord) -> Bool
    ) throws(SystemError) {
        var record = prepare()
        try context.directory.makeDirectory(of: identifier)
        let page = try place.makePage()
        record.identifier = handle.identifier
        record.startTime = handle.startTime
        record.isBackgroundLaunch = inBackground
        guard save(record) else {
            page.remove()
            throw SystemError(.write, errorNumber: ENOSPC, path: context.directory.recordPath(of: identifier))
        }
        let process = place.process(handle, identity: identity, group: place.gather(handle), page: page)
        process.isBackgroundLaunch = inBackground
        attach(connection, to: process)
        adopt(process)
        log("connected: process \(handle.identifier), freezer \(process.freezer.kind.rawValue)")
    }

    /// Takes over the process of an earlier supervisor; returns `nil` if it has ended, or cannot be supervised.
    func open(_ found: ApplicationRecord.ProcessRecord, identity: ProcessIdentity) -> RunningProcess? {
        guard let process = place.open(found, identity: identity) else { return nil }
        adopt(process)
        return process
    }

    /// Uses a connection for a process, from which messages follow.
    func attach(_ connection: Connection, to process: RunningProcess) {
        process.use(connection, of: identifier) { [unowned self, unowned process] message, packet throws(WireError) in
            guard process === current else { return }
            context.changeCount &+= 1
            try receive(message, packet, process)
        }
    }

    /// Makes a process the current one, and watches for its end.
    private func adopt(_ next: RunningProcess) {
        current = next
        context.firstProcesses.insert(next.handle.identifier)
        next.watch = context.poller.watch(next.handle.rawValue) { [unowned self, unowned next] in didEnd(next) }
        report(.changed)
    }

    /// Reads whether the program of a new process has started.
    private func readStart(of process: RunningProcess) {
        switch process.takeStart() {
        case .started:
            log("launched: process \(process.handle.identifier), freezer \(process.freezer.kind.rawValue)")
            report(.started)
        case .killed(let reason): report(.failedToStart(reason))
        case .failed, nil: break
        }
    }

    // MARK: Ends

    private func didEnd(_ ended: RunningProcess) {
        guard ended.end == nil, ended.handle.hasEnded else { return }
        // Before it is collected: the kernel knows until then whether it had started its program.
        readStart(of: ended)
        // The whole tree ends with its first process, whose session is known until then.
        ended.freezer.kill()
        guard let end = ended.takeEnd() else { return }
        context.firstProcesses.remove(ended.handle.identifier)
        let isCurrent = ended === current
        if isCurrent { current = nil }
        report(.ended(ended, end, isCurrent: isCurrent))
    }

    /// Ends what is left of a process that has ended while no supervisor ran; returns `false` if it runs, and `nil` if
    /// it was never born.
    func end(_ lost: ApplicationRecord.ProcessRecord) -> Bool? {
        guard lost.identifier > 0 else { return nil }
        guard ProcessHandle(identifier: lost.identifier, startTime: lost.startTime) == nil else { return false }
        place.killOrphans(of: lost)
        return true
    }

    private func log(_ text: String) { context.log.append(text, for: identifier) }
}
