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
    /// The end of the time in which it ends by itself, as memory is short; `nil` if it need not.
    var memoryEnd: Duration?
    /// The time at which it was suspended; `nil` while it runs.
    var suspensionTime: Duration?
    var suspensionCount: UInt64 = 0
    var suspendedTime: Duration = .zero
    /// The phase on the page, and the end of background time.
    var phase = TaskPhase.foreground
    var phaseDeadline: Duration?
    var isThrottled = false
    /// The use of the processor in the background, and what was done about it.
    var processorUse: ProcessorUse
    var processorReport: String?
    /// The assertion that it plays sound.
    var sound = SoundClaim()
    /// The work that the user has started, by the identifiers of the application.
    var continuedWork: [String: ContinuedWork] = [:]
    /// A Boolean value indicating whether an earlier supervisor has accepted such work of it, which it may name again.
    var resumesWork = false
    /// The time since which it asserts such work, and has named none.
    var unnamedWorkSince: Duration?
    var memoryPriorities = MemoryPriorities()
    /// A Boolean value indicating whether the log says that a debugger keeps its watchdogs away.
    var isSpared = false
    var isBackgroundLaunch = false

    static let maximumWaitingMessages = 256

    init(
        number: UInt64,
        identity: ProcessIdentity,
        handle: ProcessHandle,
        freezer: any Freezer,
        page: SharedPageFile,
        pagePath: String,
        token: [UInt8],
        configuration: SupervisorConfiguration
    ) {
        (self.number, self.identity, self.handle, self.freezer) = (number, identity, handle, freezer)
        (self.page, self.pagePath, self.token) = (page, pagePath, token)
        processorUse = ProcessorUse(limit: configuration.processorShare, window: configuration.processorWindow)
    }

    /// The number of open tasks that the application states; 1 if it has destroyed the page.
    var openTasks: Int { page.openTasks.map { Int(clamping: $0) } ?? 1 }

    /// The reason for which this supervisor has ended it; `nil` if it has ended by itself.
    var reasonOfEnd: String? { killReport ?? exitReport }

    /// Ends the group and the page when no process is left; returns `false` if one is.
    func remove() -> Bool {
        guard end != nil, freezer.processes.isEmpty, freezer.remove() else { return false }
        unlink(pagePath)
        return true
    }

    /// Sets the preference of the kernel's memory killer for the tree.
    func setMemoryPriority(_ value: Int) { memoryPriorities.set(value, for: freezer.processes) }

    /// The process that traces the first one, as a debugger does; `nil` if none does, or one of its own.
    var tracer: Int32? {
        guard let tracer = ProcessStatus.tracer(of: handle.identifier), !freezer.processes.contains(tracer) else {
            return nil
        }
        return tracer
    }

    /// The resident memory of the tree in bytes.
    var residentMemory: UInt64 {
        let pages = freezer.processes.compactMap { process in
            KernelFile.read("/proc/\(process)/statm", limit: 256)?.split(separator: " ").dropFirst().first
                .flatMap { UInt64($0) }
        }
        return pages.reduce(0, &+) &* UInt64(sysconf(Int32(_SC_PAGESIZE)))
    }
}
