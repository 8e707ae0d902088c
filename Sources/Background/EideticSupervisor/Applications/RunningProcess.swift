import EideticCore
import EideticDBus
import EideticLifecycle
import EideticSupervision
import Glibc

/// A process of an application, from its start until nothing of it is left.
final class RunningProcess {
    /// The reasons for which this supervisor has ended a process, or is about to.
    struct EndReasons {
        /// The reason for which it is being killed.
        var kill: String?
        /// The reason of its end for the next launch; `nil` if it ends by itself or for the user.
        var report: String?
        /// The reason for which its program was not executed.
        var failedStart: String?
    }

    /// The outcome of a start.
    enum Start {
        case started, failed
        /// The process was killed, for the reason.
        case killed(String)
    }

    /// The number of the process among those of its application; names its control group and its page.
    let number: UInt64
    /// The identity by which the state machine knows it.
    var identity: ProcessIdentity
    let handle: ProcessHandle
    let freezer: any Freezer
    /// Adds a line to the log of the application.
    private let log: (String) -> Void
    var page: TaskPage
    var watch: Poller.Watch?
    /// The report of its birth, until the program has started or cannot start.
    private var start: (report: StartReport, program: String, watch: Poller.Watch)?
    var connection: Connection?
    var conversation: Conversation
    /// The way it ended; `nil` while it runs.
    var end: ProcessEnd?
    var reasons = EndReasons()
    var suspensions = SuspensionTimes()
    private(set) var isThrottled = false
    var memoryPriorities = MemoryPriorities()
    /// A Boolean value indicating whether it could not run at its last limit, as somebody else holds it.
    private var isSpared = false
    var isBackgroundLaunch = false
    /// The connections by which others reach it, while it is suspended.
    private(set) var callers = Callers()
    /// The message bus of its session on this machine; `nil` until it was in the background, or if it has none.
    private(set) var sessionBus: LocalBusAddress?
    /// The memory of the control groups that limit this process alone; `nil` if there are none.
    private var memory: ApplicationMemory?
    /// The watchdog of a service manager, which the process has brought along.
    private(set) var watchdog: ServiceWatchdog?

    init(
        number: UInt64,
        identity: ProcessIdentity,
        handle: ProcessHandle,
        freezer: any Freezer,
        page: TaskPage,
        conversation: Conversation,
        log: @escaping (String) -> Void
    ) {
        self.number = number
        self.identity = identity
        self.handle = handle
        self.freezer = freezer
        self.page = page
        self.conversation = conversation
        self.log = log
    }

    // MARK: Start and end

    /// Waits for the report of its birth, which tells whether it has started its program.
    func await(_ report: StartReport, of program: String, with poller: Poller, whenReady body: @escaping () -> Void) {
        start = (report, program, poller.watch(report.rawValue, whenReadable: body))
    }

    /// Reads whether the program has started, once; returns `nil` while nobody knows.
    func takeStart() -> Start? {
        guard let (report, program, _) = start, let outcome = report.take() else { return nil }
        start = nil
        switch outcome {
        // The report is empty as well if the process was killed before.
        case .started where reasons.kill != nil: break
        case .started where ProcessStatus(of: handle.identifier)?.hasExecuted == false:
            reasons.failedStart = "process \(handle.identifier) was killed before it had started its program"
        case .started: return .started
        case .failed(let error):
            let isInterpreterMissing = error == ENOENT && access(program, F_OK) == 0
            reasons.failedStart =
                isInterpreterMissing
                ? "\(program): the interpreter that it names does not exist"
                : "\(SystemError(.open, errorNumber: error, path: program))"
        }
        // The reason of its end is then that of the kill.
        return reasons.kill.map { .killed($0) } ?? .failed
    }

    func findSessionBus() { sessionBus = sessionBus ?? ProcessStatus.sessionBus(of: handle.identifier) }

    /// Collects the process if it has ended, after its last messages; returns `nil` while it runs, or if it was
    /// collected before.
    func takeEnd() -> ProcessEnd? {
        guard end == nil, let taken = handle.takeEnd() else { return nil }
        connection?.readPending()
        connection?.close()
        end = taken
        watch = nil
        connection = nil
        callers.forget()
        return taken
    }

    /// The answer to the launches of a program that has ended, and has not connected; `nil` if it was not executed.
    var launchAnswer: LaunchRequests.Answer? {
        guard reasons.failedStart == nil, let end else { return nil }
        let text = "process \(handle.identifier) has ended and not connected: \(end.explanation)"
        if let report = reasons.kill { return .failed(report) }
        return end == .exited(0) ? .note(text) : .failed(text)
    }

    /// Kills the process.
    ///
    /// - Parameters:
    ///   - reason: The reason.
    ///   - isPlain: A Boolean value indicating whether it knows no callbacks, and was asked to end by a signal.
    func kill(for reason: KillReason, isPlain: Bool) {
        let isOverdue = isPlain && reason.isLimit
        let report =
            isOverdue
            ? "killed, as it has not ended after SIGTERM" : KillReport(reason: reason, openTasks: taskReport).text
        reasons.kill = report
        if !isOverdue, reason.isToldAtNextLaunch { reasons.report = report }
        log(report)
        callers.forget()
        freezer.kill()
    }

    /// Asks a process that knows no callbacks to end.
    func requestEnd() {
        log("SIGTERM is sent to process \(handle.identifier)")
        handle.signal(SIGTERM)
        _ = suspensions.end(at: Clock.now)
        freezer.thaw()
    }

    /// Leaves the process alone, which then runs without a supervisor.
    func release() {
        if freezer.isFreezeRequested { freezer.thaw() }
        try? page.setPhase(.foreground, deadline: nil)
        setMemoryPriority(MemoryPriorities.foreground)
        connection?.close()
    }

    // MARK: Messages

    /// Sends a message now, or after the greeting of the application.
    func send(_ message: SupervisorMessage) { pass(conversation.send(message)) }

    /// Sends messages that need not wait.
    func pass(_ messages: [SupervisorMessage]) {
        for message in messages {
            if let connection {
                connection.send(WireWriter.encode(message))
            } else if case .lifecycle = message {
                // The next connection begins with the callback under way.
                continue
            } else {
                // The connection has failed at one of the others.
                _ = conversation.send(message)
            }
        }
    }

    /// Uses another connection, on which the application greets, and passes its messages; an invalid one ends the
    /// connection.
    func use(
        _ next: Connection,
        of name: String,
        receive: @escaping (ApplicationMessage, PacketSocket.Packet) throws(WireError) -> Void
    ) {
        connection?.close()
        connection = next
        conversation.close()
        next.receive = { [unowned self] packet in self.decode(packet, receive: receive) }
        next.end = { [unowned self] in
            connection = nil
            conversation.close()
            guard end == nil, reasons.kill == nil else { return }
            Log.write(.info, category: .background, message: "\(name) closed its connection")
        }
    }

    private func decode(
        _ packet: PacketSocket.Packet,
        receive: (ApplicationMessage, PacketSocket.Packet) throws(WireError) -> Void
    ) {
        if !conversation.isOpen, let refusal = connection?.refuseOtherVersion(ofGreeting: packet.bytes) {
            log(refusal)
            connection?.fail()
            return
        }
        do throws(WireError) {
            try receive(try WireReader.decode(ApplicationMessage.self, from: packet.bytes), packet)
        } catch {
            log("connection closed, invalid message: \(error)")
            connection?.fail()
        }
    }

    /// Learns of the declarations of the application, and of the limits that it has brought along.
    func record(_ declarations: Hello.Declarations, below hierarchy: GroupHierarchy?) {
        conversation.declarations = declarations
        findWatchdog()
        memory = ApplicationMemory(of: handle.identifier, below: hierarchy?.path)
    }

    func findWatchdog() { watchdog = ServiceWatchdog(of: handle.identifier) }

    /// Answers the greeting of the application.
    ///
    /// - Parameters:
    ///   - welcome: The first message.
    ///   - sockets: The sockets of an earlier process, which precede the messages that have waited.
    func welcome(_ welcome: Welcome, sockets: [(message: SupervisorMessage, socket: Connection.Attachment)]) {
        try? page.file.write(UInt64(welcome.generation), to: .generation)
        connection?.send(WireWriter.encode(SupervisorMessage.welcome(welcome)), page: page.file)
        let messages = conversation.open()
        for (message, socket) in sockets { connection?.send(WireWriter.encode(message), attachment: socket) }
        pass(messages)
    }

    // MARK: Suspension

    /// Writes the phase of background tasks, and the end of background time.
    func setPhase(_ phase: TaskPhase, deadline: Duration?) {
        do throws(SystemError) { try page.setPhase(phase, deadline: deadline) } catch {
            log("cannot write the shared page: \(error)")
        }
        // One that continues was in the background before.
        if phase == .background, suspensions.start == nil { findSessionBus() }
    }

    /// Begins a suspension, as everything is stopped and verified.
    func beginSuspension(at now: Duration) {
        suspensions.begin(at: now)
        try? page.file.write(suspensions.count, to: .suspensionCount)
        for stray in (freezer as? GroupFreezer)?.takeRegained() ?? [] {
            log("process \(stray) had left its control group, and was taken back")
        }
    }

    /// Stops everything again that an earlier supervisor has stopped, and continues the suspension.
    func freezeAgain() -> FreezeAttempt.Outcome {
        let outcome = FreezeAttempt.begin(freezer, page: page.file)
        if outcome == .verified { suspensions.resume(at: Clock.now) }
        return outcome
    }

    /// Watches the connections by which others reach it, which are found first if it was just suspended.
    func watchCallers(isNew: Bool, with poller: Poller, whenReady body: @escaping (ShortThaws.Source) -> Void) {
        if isNew { callers = Callers(of: freezer.processes) }
        callers.watch(with: poller, whenReady: body)
    }

    /// Lets the process run, which is not stopped for others any more.
    func thaw() {
        callers.forget()
        freezer.thaw()
    }

    /// Lets the suspended process run for what others have sent.
    private func thawBriefly() {
        callers.endWatch()
        freezer.thaw()
    }

    /// A Boolean value indicating whether one of its threads uses a processor, or waits for one.
    var isAtWork: Bool {
        freezer.processes.contains { ProcessStatus.threads(of: $0).contains { $0.state == "R" } }
    }

    /// Tries to stop a process again that was thawed briefly.
    func endBriefThaw() -> FreezeAttempt.Outcome {
        let outcome = FreezeAttempt.begin(freezer, page: page.file)
        if case .lock = outcome { freezer.thaw() }
        return outcome
    }

    /// Ends the suspension; returns the message that tells the application of it, `nil` if there was none.
    func endSuspension(at now: Duration) -> SupervisorMessage? {
        guard let start = suspensions.end(at: now) else { return nil }
        try? page.file.write(UInt64(clamping: suspensions.total(at: now).inNanoseconds), to: .suspendedTime)
        return .suspended(from: start, to: now)
    }

    /// Continues the process, which was not suspended after all.
    func cancelSuspension() {
        suspensions.cancel()
        freezer.thaw()
    }

    /// Asks for a report when the last task has ended.
    func requestIdleReport() { conversation.isIdleReportRequested = (try? page.file.requestIdleReport()) != nil }

    // MARK: State

    /// Obeys a component of its application.
    func perform(_ request: ProcessRequest) {
        switch request {
        case .restorePriority: restorePriority()
        case .explainEnd(let report): reasons.report = report
        case .thawBriefly: thawBriefly()
        case .thaw: freezer.thaw()
        case .cancelSuspension: cancelSuspension()
        case .killAgain: freezer.kill()
        case .expectTermination: conversation.repeatsTermination = true
        }
    }

    /// Continues with what an earlier supervisor has recorded.
    func restore(_ found: ApplicationRecord.ProcessRecord) {
        reasons.kill = found.killReport
        memoryPriorities = MemoryPriorities(chosen: found.memoryPriorities)
        isBackgroundLaunch = found.isBackgroundLaunch
        conversation.presentation = found.intention.presentation
        suspensions = SuspensionTimes(
            since: found.suspensionTime,
            count: page.file[.suspensionCount] ?? 0,
            total: .nanoseconds(Int64(clamping: page.file[.suspendedTime] ?? 0))
        )
    }

    /// Returns the way in which it has ended, in words.
    func text(of report: ExitReport) -> String {
        var text = reasonOfEnd
        if report.wasLaunching { text += ", during the launch" }
        if report.killReason == nil, report.openTasks > 0 { text += ", with \(report.openTasks) open tasks" }
        let suspended = suspensions.total(at: Clock.now)
        if suspended > .zero {
            text += ", suspended \(suspensions.count) times for \(Int(suspended.inMilliseconds)) ms"
        }
        return text
    }

    /// The reason of the end in words: that of this supervisor, or else the way in which it ended by itself.
    var reasonOfEnd: String { reasons.kill ?? reasons.report ?? (end ?? .unknown).explanation }

    /// The names of the open tasks, or their number if the application has not told them.
    var taskReport: [String] {
        let count = page.openTasks
        if count == 0 || !conversation.taskNames.isEmpty { return count == 0 ? [] : conversation.taskNames }
        return ["\(count) open task\(count == 1 ? "" : "s") without a known name"]
    }

    /// The process that traces the first one, as a debugger does; `nil` if none does, or one of its own.
    private var tracer: Int32? {
        guard let tracer = ProcessStatus.tracer(of: handle.identifier), !freezer.processes.contains(tracer) else {
            return nil
        }
        return tracer
    }

    /// The words for a debugger or a signal that keeps the process from running; `nil` if nothing does.
    var holder: String? {
        if let tracer { return "traced by process \(tracer)" }
        let isStopped = ProcessStatus(of: handle.identifier).map { $0.state == "T" } ?? false
        guard isStopped, freezer.kind == .group || !freezer.isFreezeRequested else { return nil }
        return "stopped by a signal (SIGSTOP or a shell); SIGCONT continues it"
    }

    /// The memory that is watched: a suspended process uses no more than it has.
    var watchedMemory: ApplicationMemory? { suspensions.start == nil ? memory : nil }

    /// The resident memory of the tree in bytes.
    var residentMemory: UInt64 {
        let pages = freezer.processes.compactMap { process in
            KernelFile.read("/proc/\(process)/statm", limit: 256)?.split(separator: " ").dropFirst().first
                .flatMap { UInt64($0) }
        }
        return pages.reduce(0, &+) &* UInt64(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// The explanation of a start that has not reached the program yet.
    var slowStart: String? {
        start.map { "process \(handle.identifier) has not started its program yet: \($0.program)" }
    }

    /// The processes of which a thread waits in the kernel, where no signal reaches it.
    var uninterruptible: [Int32] {
        freezer.processes.filter { ProcessStatus.threads(of: $0).contains { $0.state == "D" } }
    }

    /// The reasons in words for which the processes may not freeze.
    private var freezeObstacles: String {
        let processes = freezer.processes
        let stuck = uninterruptible.map { "\($0)" }.joined(separator: ", ")
        var text = stuck.isEmpty ? "" : "; waiting in the kernel: \(stuck)"
        if HeldLocks.violation(of: processes) == .tooManyFiles { text += "; too many open files to look for locks" }
        if !processes.contains(handle.identifier) { text += "; it has left its control group" }
        return text
    }

    // MARK: Priority

    /// Sets the preference of the kernel's memory killer for the tree.
    func setMemoryPriority(_ value: Int) { memoryPriorities.set(value, for: freezer.processes) }

    /// Reduces the priority of the processes; returns the means in words.
    func slowDown() -> String {
        isThrottled = true
        if (freezer as? GroupFreezer)?.setLowWeight(true) ?? false { return "least share of the processor" }
        guard geteuid() == 0 else { return "not throttled" }
        setPriority(19)
        return "nice 19"
    }

    /// Reduces the priority of processes that could not be frozen in a time; returns the obstacle in words.
    func throttle(after limit: Duration) -> String {
        let obstacle = "it could not be frozen in \(Int(limit.inMilliseconds)) ms\(freezeObstacles)"
        log("unfreezable: \(obstacle); \(slowDown()), next attempt later")
        return obstacle
    }

    private func restorePriority() {
        guard isThrottled else { return }
        isThrottled = false
        let isWeighted = (freezer as? GroupFreezer)?.setLowWeight(false) ?? false
        if !isWeighted, geteuid() == 0 { setPriority(0) }
    }

    /// Sets the priority of every thread: it is one of threads on Linux.
    private func setPriority(_ priority: Int32) {
        for process in freezer.processes {
            for thread in ProcessStatus.threads(of: process) { ProcessPriority.set(priority, of: thread.identifier) }
        }
    }
}

extension RunningProcess: TransitionGate {
    var admitsTasks: Bool { conversation.isOpen && page.admitsTasks }

    func taskCountChange(since lifecycle: Lifecycle) -> LifecycleEvent? {
        guard conversation.isOpen, suspensions.start == nil else { return nil }
        return LifecycleEvent(openTasks: page.openTasks, of: identity, unknownTo: lifecycle)
    }

    func closePage(at now: Duration) -> Int { page.close(at: now) }

    func reopenPage() { page.reopen() }

    func isSparedAtLimit() -> Bool {
        let holder = holder
        defer { isSpared = holder != nil }
        if let holder, !isSpared { log("process \(handle.identifier) is \(holder), and not killed") }
        return holder != nil || isSpared
    }
}

extension RunningProcess: Leftover {
    func remove() -> Bool {
        guard end != nil, freezer.processes.isEmpty, freezer.remove() else { return false }
        page.remove()
        return true
    }

    func killRest() { if !freezer.processes.isEmpty { freezer.kill() } }
}

extension Freezer {
    var usedProcessorTime: Duration {
        (self as? GroupFreezer)?.processorTime
            ?? processes.reduce(.zero) { $0 + (ProcessStatus.processorTime(of: $1) ?? .zero) }
    }
}
