import EideticBackground
import EideticCore
import Glibc
import Synchronization

/// Prints each callback, and opens and ends the tasks of the plan.
@MainActor
final class BackgroundDelegate: ApplicationDelegate {
    private let plan: BackgroundPlan
    private var openTasks: [(task: BackgroundPlan.PlannedTask, identifier: BackgroundTaskIdentifier)] = []

    private let storm: TaskStorm
    /// The callbacks that block when they are called for the first time.
    private var hangs: [String: Duration]
    /// The line with which the process stops itself.
    private var stop: String?

    init(plan: BackgroundPlan, storm: TaskStorm) {
        self.plan = plan
        self.storm = storm
        hangs = plan.hangs
        stop = plan.stop
    }

    func applicationWillFinishLaunching(_ application: Application) {
        report("willFinishLaunching", application: application)
        if plan.crashesAtLaunch { abort() }
    }

    func application(_ application: Application, didFinishLaunchingWith options: LaunchOptions) {
        if application.isSupervised { printLine("supervised") }
        if plan.printsMultitasking { printLine("multitasking \(application.isMultitaskingSupported)") }
        if plan.playsAudio { application.beginAudio() }
        if let player = plan.player { Player(command: player, application: application).start() }
        if options.reason != .user { printLine("launched for \(options.reason)") }
        if let archive = options.archive { printLine("archive \(String(decoding: archive, as: UTF8.self))") }
        if let report = application.previousExitReport { printLine("report \(report)") }
        report("didFinishLaunching", application: application)
        for task in plan.plannedTasks { openTasks.append((task, begin(task, in: application))) }
        for name in plan.blockingLibraryTasks { beginLibraryTask(name, in: application) { while true { pause() } } }
        for name in plan.libraryTasks { beginLibraryTask(name, in: application) {} }
    }

    /// Opens a task whose handler ends it after `body`.
    private func beginLibraryTask(_ name: String, in application: Application, body: @escaping @Sendable () -> Void) {
        let identifier = Guarded(BackgroundTaskIdentifier.invalid)
        let task = application.beginBackgroundTask(named: name) {
            body()
            printLine("expired \(name)")
            application.endBackgroundTask(identifier.withLock { $0 })
        }
        identifier.withLock { $0 = task }
    }

    /// Blocks for a time, by a clock that goes on while the process is stopped; a signal does not end it.
    private func block(for duration: Duration) {
        let end = SystemTime().uptime + duration
        while case let rest = end - SystemTime().uptime, rest > .zero { usleep(UInt32(rest / .microseconds(1)) + 1) }
    }

    /// Uses a processor within a task, until the task expires.
    private func useProcessor(in application: Application) {
        let isExpired = Guarded(false)
        let task = application.beginBackgroundTask(withName: "busy") { isExpired.withLock { $0 = true } }
        Thread.start(name: "busy") {
            while !isExpired.withLock({ $0 }) {}
            printLine("expired busy")
            application.endBackgroundTask(task)
        }
    }

    func applicationDidBecomeActive(_ application: Application) { report("didBecomeActive", application: application) }
    func applicationWillResignActive(_ application: Application) {
        report("willResignActive", application: application)
    }
    func applicationWillEnterForeground(_ application: Application) {
        report("willEnterForeground", application: application)
    }

    func applicationDidEnterBackground(_ application: Application) {
        report("didEnterBackground", application: application)
        if plan.isBusyInBackground { useProcessor(in: application) }
        printLine("remaining \(application.backgroundTimeRemaining.components.seconds)")
        for (task, identifier) in openTasks {
            guard let duration = task.duration else { continue }
            Task {
                try? await Task.sleep(for: duration)
                printLine("done \(task.name)")
                stopProcess(in: "done \(task.name)")
                application.endBackgroundTask(identifier)
            }
        }
    }

    func application(_ application: Application, open url: String, from source: String?) -> Bool {
        printLine("open \(url) \(application.state)")
        return plan.openedScheme.map { url.hasPrefix($0) } ?? false
    }

    func application(
        _ application: Application,
        performWake wake: BackgroundWake
    ) async -> BackgroundWake.Result {
        printLine("wake \(wake.kind) \(wake.id)")
        guard plan.holdsWakes else { return .newData }
        try? await Task.sleep(for: .seconds(3_600))
        printLine("wake cancelled")
        return .failed
    }

    func applicationArchive(_ application: Application) -> [UInt8]? { plan.archive }

    func applicationWillTerminate(_ application: Application) {
        if plan.stormThreads > 0 { printLine("inside \(storm.openTaskCount.load(ordering: .sequentiallyConsistent))") }
        report("willTerminate", application: application)
        printLine("late begin \(application.beginBackgroundTask() == .invalid ? "refused" : "granted")")
    }

    func application(_ application: Application, didReceiveMemoryPressure level: MemoryPressure) {
        printLine("warned \(level)")
    }

    private func report(_ name: String, application: Application) {
        printLine("\(name) \(application.state)")
        stopProcess(in: name)
        // Blocks the main thread, as a careless application does.
        if let hang = hangs.removeValue(forKey: name) { block(for: hang) }
        if plan.workCallback == name { Task { await continueWork() } }
    }

    /// Stops the process in the planned event, when that happens for the first time.
    private func stopProcess(in event: String) {
        guard stop == event else { return }
        stop = nil
        kill(getpid(), SIGSTOP)
    }

    /// Performs work until it is cancelled.
    private func continueWork() async {
        let request = ContinuedProcessingTaskRequest(identifier: "export", title: "Export")
        do {
            try await BackgroundTaskScheduler.shared.perform(request) { [plan] _ in
                printLine("work begins")
                if plan.leavesWithWork { Application.shared.setPresentation(.background) }
                try await Task.sleep(for: .seconds(3_600))
            }
        } catch is CancellationError {
            printLine("work cancelled")
        } catch {
            printLine("work refused: \(error)")
        }
    }

    private func begin(_ task: BackgroundPlan.PlannedTask, in application: Application) -> BackgroundTaskIdentifier {
        let index = openTasks.count
        return application.beginBackgroundTask(withName: task.name) { [weak self] in
            printLine("expired \(task.name)")
            self?.stopProcess(in: "expired \(task.name)")
            self?.handleExpiration(of: index, in: application)
        }
    }

    private func handleExpiration(of index: Int, in application: Application) {
        if plan.beginsTaskAtExpiration {
            printLine("begin at expiry \(application.beginBackgroundTask() == .invalid ? "refused" : "granted")")
        }
        if plan.returnsToForegroundAtExpiration { application.setPresentation(.active) }
        if plan.endsAllTasksAtExpiration {
            for task in openTasks { application.endBackgroundTask(task.identifier) }
        } else if plan.endsTasksAtExpiration {
            application.endBackgroundTask(openTasks[index].identifier)
        }
    }
}
