import CSupervisor
package import EideticCore
import EideticLifecycle
import Glibc

/// The supervisor of a user's applications: one thread, which waits for processes, messages and deadlines.
package final class Supervisor {
    let context: SupervisorContext
    let poller: Poller
    var applications: [String: SupervisedApplication] = [:]
    /// The connections that have not said who they are, and those of `eidetic app`.
    var guests: [ObjectIdentifier: Guest] = [:]
    /// The memory of the machine and of the control groups.
    let memory: MemoryWatch
    private let supervisorSocket: PacketSocket
    private let controlSocket: PacketSocket
    private let lock: FileDescriptor
    private let signals: FileDescriptor
    private var watches: [Poller.Watch] = []
    private var listeners: [Listener] = []
    private let timers: WakeTimers
    /// The services of the desktop, by D-Bus.
    private var desktop: DesktopServices?
    private var isStopping = false
    /// A Boolean value indicating whether the applications are asked to end before this process.
    private var isEndingApplications = false
    /// The number of changes that those who wait for one were told of.
    var reportedChangeCount: UInt64 = 0

    /// A connection that has no application, and the end of its time.
    struct Guest {
        let connection: Connection
        let isControl: Bool
        let process: Int32
        let deadline: Poller.Alarm
        /// A Boolean value indicating whether the next change is to be reported.
        var awaitsChange = false
    }

    /// Prepares the sockets and takes over the applications of an earlier supervisor.
    ///
    /// - Throws: `SystemError`; with `EWOULDBLOCK`, another supervisor uses the directory.
    package init(_ configuration: SupervisorConfiguration) throws(SystemError) {
        eidetic_raise_file_limit()
        let directory = try RuntimeDirectory(path: configuration.runtimeDirectory)
        lock = try directory.lock()
        poller = try Poller()
        context = try SupervisorContext(configuration: configuration, directory: directory, poller: poller)
        timers = try WakeTimers(poller: poller)
        memory = MemoryWatch(groupPath: context.hierarchy?.path)
        let number = eidetic_open_signals()
        guard number >= 0 else { throw SystemError(.open, errorNumber: errno, path: "signalfd") }
        signals = FileDescriptor(adopting: number)
        // What has left the group of its application alone is found among the children of this process.
        eidetic_become_subreaper()
        supervisorSocket = try PacketSocket.listen(replacing: directory.supervisorSocket)
        controlSocket = try PacketSocket.listen(replacing: directory.controlSocket)
        context.forget = { [unowned self] in self.forget($0) }
        // First, as a process that is taken over may be handling a wake.
        recoverSchedules()
        recover()
        watchSockets()
        desktop = DesktopServices(supervisor: self)
        context.desktop = desktop
        connectTransfers()
        connectSound()
        // More than half of the code is used at the start alone.
        eidetic_release_code()
    }

    private func watchSockets() {
        watches = [poller.watch(signals.rawValue) { [unowned self] in self.handleSignal() }]
        listeners = [(supervisorSocket, false), (controlSocket, true)].map { socket, isControl in
            Listener(socket: socket, poller: poller) { [unowned self] in self.admit($0, isControl: isControl) }
        }
    }

    /// The path of the control groups; `nil` if applications are stopped by signals.
    package var controlGroup: String? { context.hierarchy?.path }

    /// Runs until SIGTERM, SIGINT or SIGHUP; every application then continues without a supervisor.
    package func run() {
        while !isStopping {
            waitForEvents()
            poller.ringAlarms()
            desktop?.handleDeadlines()
            performDueWakes()
            relieveMemory()
            updateSound()
            context.log.save()
            reportChanges()
            stopAfterApplications()
        }
        for application in applications.values {
            guard let process = application.process else { continue }
            application.perform(application.components.work.endAll(in: application.view))
            process.release()
        }
        // The notifications that it withdraws.
        context.desktop?.session?.process()
        context.transfers.link?.stop()
        context.log.save()
    }

    private func waitForEvents() {
        let now = Clock.now
        var notifications = memory.pollDescriptors(at: now)
        let watched = applications.values.compactMap(\.process?.watchedMemory)
        let counts =
            [notifications.count]
            + watched.map { memory in
                let own = memory.pollDescriptors(at: now)
                notifications += own
                return own.count
            }
        let memoryDeadlines = [memory.nextDeadline(at: now)] + watched.map(\.nextDeadline)
        let polled = ([desktop?.nextDeadline] + memoryDeadlines).compactMap(\.self).min()
        poller.wait(until: polled, orFor: &notifications)
        memory.recordEvents(from: Array(notifications.prefix(counts[0])))
        var rest = notifications.dropFirst(counts[0])
        for (memory, count) in zip(watched, counts.dropFirst()) {
            memory.recordEvents(from: Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
    }

    /// Forgets an application that nothing refers to, and removes its record.
    private func forget(_ identifier: String) {
        applications[identifier] = nil
        context.changeCount &+= 1
        context.directory.removeDirectory(of: identifier)
    }

    /// Makes room for another application; returns `false` if as many are known as may be.
    ///
    /// The one without a program that ended first is forgotten early.
    func makeRoomForApplication() -> Bool {
        guard applications.count >= context.configuration.applicationLimit else { return true }
        let candidates = applications.filter { !$1.program.isKnown && $1.components.leftovers.processes.isEmpty }
            .compactMapValues(\.components.idleness.deadline)
        guard let first = candidates.min(by: { $0.value < $1.value }) else { return false }
        forget(first.key)
        return true
    }

    /// Performs the wakes and notifications that are due, and arms the timers for the next ones.
    private func performDueWakes() {
        let now = context.clock.now
        var (steady, wall): (Int64?, Int64?)
        for application in Array(applications.values) where !application.components.wakes.record.isEmpty {
            application.perform(application.components.wakes.startDue(in: application.view, at: now))
            desktop?.showDueNotifications(of: application, at: now)
            application.saveWakes()
            let next = application.components.wakes.nextTime(in: application.view, at: now)
            steady = [steady, next].compactMap(\.self).min()
            let delay = application.components.wakes.record.notifications.nextDelays(at: now).wall
            wall = [wall, delay.map { now.universal + $0 }].compactMap(\.self).min()
        }
        timers.arm(steady: steady.map { context.clock.boot(ofSteady: $0) } ?? 0, wall: wall ?? 0)
    }

    /// Continues the schedules that earlier supervisors have left, also before the machine was started.
    private func recoverSchedules() {
        for name in KernelFile.names(in: context.configuration.stateDirectory)
        where ApplicationIdentifier.isValid(name) {
            let path = "\(context.configuration.stateDirectory)/\(name)/wakes"
            if access(path, F_OK) == 0 { application(named: name).restoreWakes() }
        }
    }

    private func handleSignal() {
        while true {
            switch eidetic_read_signal(signals.rawValue) {
            case 0: return
            case SIGCHLD: context.collectOrphans()
            default: stop()
            }
        }
    }

    /// Ends this process; before that, as the first process of a container, all applications.
    ///
    /// They would end with it. A second request waits for none of them.
    private func stop() {
        guard isFirstProcess, !isEndingApplications else { return isStopping = true }
        isEndingApplications = true
        for application in applications.values where application.process != nil {
            application.handle(.terminate(grace: context.configuration.quitGracePeriod))
        }
    }

    /// A Boolean value indicating whether all processes end with this one, or with its keeper.
    private var isFirstProcess: Bool { getpid() == 1 || context.configuration.hasKeeper && hasFirstParent }
    /// As it was at the start: on any machine the parent of a process whose own has ended is the first one.
    private let hasFirstParent = getppid() == 1

    /// Ends this process when the last application has ended that was asked to.
    private func stopAfterApplications() {
        if isEndingApplications, applications.values.allSatisfy({ $0.process == nil }) { isStopping = true }
    }

    // MARK: Recovery

    /// Takes over what earlier supervisors have left.
    private func recover() {
        let lost = context.directory.identifiers.filter { !restore($0) }
        recoverUnknownGroups()
        // What signals have stopped runs on alone; the rest was found by its groups.
        Release.run(for: Set(lost.filter { applications[$0]?.process == nil }), of: context)
        continueUnknownOrphans()
        for application in Array(applications.values) { application.completeRestoration() }
    }

    /// Continues the stopped orphans of which only the earlier supervisor knew the application.
    private func continueUnknownOrphans() {
        let known = Set(applications.values.flatMap { $0.process?.freezer.processes ?? [] })
        for orphan in context.orphans where !known.contains(orphan) && ProcessStatus(of: orphan)?.state == "T" {
            ProcessHandle(identifier: orphan)?.signal(SIGCONT)
        }
    }

    /// Restores an application from its record; returns `false` if the record cannot be used.
    private func restore(_ identifier: String) -> Bool {
        let path = context.directory.recordPath(of: identifier)
        guard let bytes = context.directory.contents(of: path) else {
            if access(path, F_OK) == 0 {
                application(named: identifier).log("its record cannot be read: its process runs on alone")
            }
            return false
        }
        let application = application(named: identifier)
        do throws(WireError) {
            application.restore(try WireReader.decode(ApplicationRecord.self, from: bytes))
            return true
        } catch {
            application.log("its record is damaged: \(error)")
            return false
        }
    }

    /// Takes over the processes that no record mentions; ends what is left of those that have ended.
    private func recoverUnknownGroups() {
        guard let hierarchy = context.hierarchy else { return }
        let known = Set(applications.values.compactMap { ($0.process?.freezer as? GroupFreezer)?.path })
        for name in hierarchy.groupNames {
            let path = "\(hierarchy.path)/\(name)"
            guard !known.contains(path), let group = try? GroupFreezer(existing: path) else { continue }
            if recover(group, named: name) { continue }
            group.kill()
            for _ in 0..<1_000 where !group.remove() { sched_yield() }
        }
    }

    /// Takes over the process in a group without a record, such as "name@7"; returns `false` if the record knows that
    /// it has ended.
    private func recover(_ group: GroupFreezer, named name: String) -> Bool {
        guard !group.processes.isEmpty else { return false }
        let parts = name.split(separator: "@", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, ApplicationIdentifier.isValid(parts[0]), let number = UInt64(parts[1]) else {
            // Not one of this supervisor's.
            group.thaw()
            return true
        }
        let application = application(named: parts[0])
        guard application.process == nil, number > application.processes.number else { return false }
        var record = ApplicationRecord(of: application)
        record.processNumber = number
        record.process = ApplicationRecord.ProcessRecord()
        record.process?.groupPath = group.path
        application.log("has no record of process number \(number), which runs")
        application.restore(record)
        return true
    }

    /// Returns the application of an identifier, which is known afterwards.
    func application(named identifier: String) -> SupervisedApplication {
        if let known = applications[identifier] { return known }
        let application = SupervisedApplication(identifier: identifier, context: context)
        applications[identifier] = application
        return application
    }
}
