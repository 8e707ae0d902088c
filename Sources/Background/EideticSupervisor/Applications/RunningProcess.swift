import EideticCore
import EideticSupervision
import Glibc
import EideticLifecycle

/// A process of an application, from its start until nothing of it is left.
final class RunningProcess {
    /// The number of the process among those of its application; names its control group and its page.
    let number: UInt64
    /// The identity by which the state machine knows it.
    var identity: ProcessIdentity
    let handle: ProcessHandle
    let freezer: any Freezer
    let page: SharedPageFile
    let pagePath: String
    let token: [UInt8]
    var watch: Poller.Watch?
    /// The report of its birth, until the program has started or cannot start.
    var start: (report: StartReport, watch: Poller.Watch)?
    /// The reason for which its program was not executed.
    var startFailure: String?
    var connection: Connection?
    /// A Boolean value indicating whether the application knows its page, and receives messages.
    var isWelcomed = false
    /// A Boolean value indicating whether the application was asked to report that no task is open, and has not.
    var isIdleReportRequested = false
    /// A Boolean value indicating whether the application may repeat a request to terminate that is under way.
    var repeatsTermination = false
    /// The messages that the application receives after its `hello`.
    var waitingMessages: [SupervisorMessage] = []
    /// The presentation that the application has reported last.
    var presentation: PresentationMessage?
    var declarations = Hello.Declarations()
    /// The callback under way, and its number.
    var pendingCallback: (callback: LifecycleCallback, sequence: UInt64, deadline: Duration)?
    /// The names of open tasks, as the application has last reported them.
    var taskNames: [String] = []
    /// The way it ended; `nil` while it runs.
    var end: ProcessEnd?
    /// The reason for which it is being killed.
    var killReport: String?
    /// The reason of its end for the next launch; `nil` if it ends by itself or for the user.
    var exitReport: String?
    /// The time at which it was suspended; `nil` while it runs.
    var suspensionTime: Duration?
    var suspensionCount: UInt64 = 0
    var suspendedTime: Duration = .zero
    /// The phase on the page, and the end of background time.
    var phase = TaskPhase.foreground
    var phaseDeadline: Duration?
    /// A Boolean value indicating whether its priority is reduced.
    private(set) var isThrottled = false
    var memoryPriorities = MemoryPriorities()
    /// A Boolean value indicating whether it could not run at its last limit, as somebody else holds it.
    var isSpared = false
    var isBackgroundLaunch = false
    /// The connections by which others reach it, while it is suspended.
    var callers: [CallerConnection] = []
    /// A Boolean value indicating whether the kernel shows no connections of it.
    var hasHiddenCallers = false
    /// The memory of the control groups that limit this process alone; `nil` if there are none.
    var memory: ApplicationMemory?
    /// The watchdog of a service manager, which the process has brought along.
    var watchdog: ServiceWatchdog?

    static let maximumWaitingMessages = 256

    init(
        number: UInt64,
        identity: ProcessIdentity,
        handle: ProcessHandle,
        freezer: any Freezer,
        page: SharedPageFile,
        pagePath: String,
        token: [UInt8]
    ) {
        self.number = number
        self.identity = identity
        self.handle = handle
        self.freezer = freezer
        self.page = page
        self.pagePath = pagePath
        self.token = token
    }

    /// The number of open tasks that the application states; 1 if it has destroyed the page.
    var openTasks: Int { page.openTasks.map { Int(clamping: $0) } ?? 1 }

    /// The reason for which this supervisor has ended it; `nil` if it has ended by itself.
    var reasonOfEnd: String? { killReport ?? exitReport }

    /// Sets the preference of the kernel's memory killer for the tree.
    func setMemoryPriority(_ value: Int) { memoryPriorities.set(value, for: freezer.processes) }

    /// The process that traces the first one, as a debugger does; `nil` if none does, or one of its own.
    var tracer: Int32? {
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

    /// The resident memory of the tree in bytes.
    var residentMemory: UInt64 {
        let pages = freezer.processes.compactMap { process in
            KernelFile.read("/proc/\(process)/statm", limit: 256)?.split(separator: " ").dropFirst().first
                .flatMap { UInt64($0) }
        }
        return pages.reduce(0, &+) &* UInt64(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Returns the explanation of a start that has not reached the program yet.
    func slowStart(of executable: String?) -> String? {
        guard start != nil else { return nil }
        return "process \(handle.identifier) has not started its program yet: \(executable ?? "")"
    }

    /// The processes of which a thread waits in the kernel, where no signal reaches it.
    var uninterruptible: [Int32] {
        freezer.processes.filter { ProcessStatus.threads(of: $0).contains { $0.state == "D" } }
    }

    // MARK: Priority

    /// Reduces the priority of the processes; returns the means in words.
    func slowDown() -> String {
        isThrottled = true
        if (freezer as? GroupFreezer)?.setLowWeight(true) ?? false { return "least share of the processor" }
        guard geteuid() == 0 else { return "not throttled" }
        setPriority(19)
        return "nice 19"
    }

    /// Restores the priority of the processes.
    func restorePriority() {
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

extension RunningProcess: Leftover {
    func remove() -> Bool {
        guard end != nil, freezer.processes.isEmpty, freezer.remove() else { return false }
        unlink(pagePath)
        return true
    }

    func killRest() { if !freezer.processes.isEmpty { freezer.kill() } }
}

extension Freezer {
    /// The processor time of all processes.
    var usedProcessorTime: Duration {
        (self as? GroupFreezer)?.processorTime
            ?? processes.reduce(.zero) { $0 + (ProcessStatus.processorTime(of: $1) ?? .zero) }
    }
}
