import EideticBackground
import EideticCore
import Glibc

/// An application that performs commands and prints its wakes.
@MainActor
final class WakeApplication: ApplicationDelegate {
    private let name: String
    private let options: [String]
    private let application = Application.shared
    /// The result of fetches and messages; `nil` for those that are never completed.
    private var result: BackgroundWake.Result? = .newData
    private var socket: Int32 = -1
    /// The units that work has completed.
    private var progress = AsyncStream<Int>.makeStream()
    private var work: ContinuedProcessingTask?

    init(name: String, options: [String]) { (self.name, self.options) = (name, options) }

    func run() async throws {
        var configuration = Application.Configuration()
        configuration.followsTerminal = false
        if let index = options.firstIndex(of: "--result") { setResult(options[index + 1]) }
        try application.start(configuration, delegate: self)
        if let index = options.firstIndex(of: "--commands") { CommandFile(options[index + 1]).read(perform) }
        await application.waitUntilTerminated()
    }

    private func say(_ text: String) { printLine("\(name) \(text)") }

    private func setResult(_ word: String) {
        result = ["newData": .newData, "noData": .noData, "failed": .failed][word]
    }

    // MARK: Callbacks

    func applicationWillFinishLaunching(_ application: Application) {
        for identifier in ["refresh", "processing"] {
            BackgroundTaskScheduler.shared.register(forTaskWithIdentifier: identifier) { [weak self] in
                self?.say("runs \(identifier)")
                return self?.result == .newData
            }
        }
        BackgroundTaskScheduler.shared.register(forTaskWithIdentifier: "network") { [weak self] in
            self?.say("runs network")
            // Ends when it is cancelled.
            let (stream, continuation) = AsyncStream<Never>.makeStream()
            for await _ in stream {}
            continuation.finish()
            self?.say("network is stopped")
            return false
        }
    }

    func application(_ application: Application, didFinishLaunchingWith options: LaunchOptions) {
        say("launched \(options.isInBackground ? "in background" : "visible") for \(options.reason)")
    }

    func applicationDidBecomeActive(_ application: Application) { say("active") }
    func applicationDidEnterBackground(_ application: Application) { say("in background") }
    func applicationWillEnterForeground(_ application: Application) { say("willEnterForeground") }
    func applicationWillResignActive(_ application: Application) { say("willResignActive") }

    func application(
        _ application: Application,
        performWake wake: BackgroundWake
    ) async -> BackgroundWake.Result {
        switch wake.kind {
        case .fetch:
            say("fetch in \(application.state)")
            if options.contains("--ends-in-wakes") { exit(3) }
            return await chosenResult()
        case .push: return await handleMessage(wake.payload)
        case .location:
            if let location = wake.location {
                say("location \(location.latitude) \(location.longitude) \(location.accuracy) in \(application.state)")
            }
        case .voip: readSocket(for: wake)
        default: say("wake \(wake.kind) in \(application.state)")
        }
        return .newData
    }

    private func handleMessage(_ payload: [UInt8]) async -> BackgroundWake.Result {
        say("message in \(application.state) \(String(decoding: payload, as: UTF8.self))")
        guard options.contains("--tells-user") else { return await chosenResult() }
        // First the data, then the user.
        say("prepared")
        try? await UserNotificationCenter.shared.add(UserNotification(id: "news", title: "prepared"))
        return .newData
    }

    /// Returns the result that the arguments choose; never, even if cancelled, if they choose none.
    private func chosenResult() async -> BackgroundWake.Result {
        if let result { return result }
        return await withUnsafeContinuation { _ in }
    }

    private func readSocket(for wake: BackgroundWake) {
        let descriptor = application.takeBackgroundSocket(named: wake.name) ?? socket
        var bytes = [UInt8](repeating: 0, count: 64)
        if options.contains("--ends-in-wakes") {
            say("ends for \(wake.name)")
            exit(3)
        }
        if options.contains("--reads-nothing") { return say("voip \(wake.name) ignored") }
        let count = max(0, recv(descriptor, &bytes, 64, Int32(MSG_DONTWAIT)))
        let text = String(decoding: bytes.prefix(count), as: UTF8.self)
        say("voip \(wake.name) \(String(decoding: wake.payload, as: UTF8.self)) read \(text)")
    }

    func application(_ application: Application, didReceive response: NotificationResponse) {
        say("response \(response.identifier) \(response.action) \(response.userInfo)")
    }

    func application(
        _ application: Application,
        didRegisterForRemoteNotificationsWith address: String?,
        reason: String
    ) { say("address \(address ?? "none: \(reason)")") }

    func application(_ application: Application, performAction action: String, parameter: String) {
        say("action \(action) \(parameter)")
    }

    func application(_ application: Application, open url: String, from source: String?) -> Bool {
        guard !url.hasPrefix("refused:") else { return false }
        say("opens \(url)")
        return true
    }

    func application(_ application: Application, didReceiveMemoryPressure level: MemoryPressure) {
        say("memory pressure \(level)")
    }

    // MARK: Commands

    private func perform(_ words: [String]) async {
        do {
            switch words[0] {
            case "result": setResult(words[1])
            case "fetch-interval":
                application.setMinimumBackgroundFetchInterval(words[1] == "never" ? .never : .minimum)
            case "refresh": try await BackgroundTaskScheduler.shared.submit(AppRefreshTaskRequest(identifier: words[1]))
            case "processing":
                var request = ProcessingTaskRequest(identifier: words[1])
                // Such work begins when the test says so.
                if words[1] == "network" {
                    request.requiresNetworkConnectivity = true
                    request.earliestBegin = .seconds(3_600)
                }
                try await BackgroundTaskScheduler.shared.submit(request)
            case "notify": try await notify(words)
            case "many": try await notifyMany(count: Int(words[1]) ?? 0)
            case "pending": say("pending \(await UserNotificationCenter.shared.pendingIdentifiers.count)")
            case "badge": UserNotificationCenter.shared.setBadge(Int(words[1]) ?? 0)
            case "register": application.registerForRemoteNotifications()
            case "location": application.setBackgroundLocationUpdates(isEnabled: true)
            case "connect":
                socket = Self.connect(to: words[1])
                try application.keepSocketInBackground(socket, named: words[2])
            case "continue": continueWork(named: words[1])
            case "progress": progress.continuation.yield(Int(words[1]) ?? 0)
            case "reports": reportOften(count: Int(words[1]) ?? 0)
            case "burn": await Self.useProcessor(for: .milliseconds(Int(words[1]) ?? 0))
            case "task": _ = application.beginBackgroundTask(withName: "task")
            case "delivers": say("delivers \(application.isSupervised)")
            default: break
            }
            say("done \(words.joined(separator: " "))")
        } catch {
            say("refused \(words.joined(separator: " ")): \(error)")
        }
    }

    /// Begins work that the command `progress UNITS` takes further, of ten.
    private func continueWork(named identifier: String) {
        progress = AsyncStream<Int>.makeStream()
        let (stream, request) = (
            progress.stream, ContinuedProcessingTaskRequest(identifier: identifier, title: "Export")
        )
        Task {
            do {
                let isStubborn = options.contains("--ignores-cancellation")
                let last = try await BackgroundTaskScheduler.shared.perform(request) { [weak self, name] task in
                    await self?.keep(task)
                    printLine("\(name) work \(identifier) begins")
                    // The value of another task is waited for also when this one is cancelled.
                    guard isStubborn else { return await Self.follow(stream, of: task) }
                    return await Task.detached { await Self.follow(stream, of: task) }.value
                }
                say("work \(identifier) ended at \(last)")
            } catch {
                say("work \(identifier) refused: \(error)")
            }
        }
    }

    private func keep(_ task: ContinuedProcessingTask) { work = task }

    nonisolated private static func follow(
        _ stream: AsyncStream<Int>,
        of task: ContinuedProcessingTask
    ) async -> Int {
        var last = 0
        for await count in stream {
            task.updateProgress(completed: count, of: 10)
            last = count
            if count == 10 { break }
        }
        return last
    }

    /// Reports progress that often without a total, and then that nine of ten units are completed.
    private func reportOften(count: Int) {
        for number in 1...max(1, count) { work?.updateProgress(completed: number, of: 0) }
        work?.updateProgress(completed: 9, of: 10)
    }

    @concurrent
    private static func useProcessor(for duration: Duration) async {
        let end = ContinuousClock.now + duration
        while ContinuousClock.now < end {}
    }

    /// Adds a notification: `notify ID SECONDS TITLE`, at once for 0 seconds.
    private func notify(_ words: [String]) async throws {
        var notification = UserNotification(id: words[1], title: words[3], body: "<body>")
        notification.sound = .standard
        notification.badge = 3
        notification.userInfo = "info-\(words[1])"
        let seconds = Int64(words[2]) ?? 0
        if seconds > 0 { notification.trigger = .timeInterval(.seconds(seconds), repeats: false) }
        if words.count > 4 { notification.trigger = .timeInterval(.seconds(seconds), repeats: true) }
        try await UserNotificationCenter.shared.add(notification)
    }

    private func notifyMany(count: Int) async throws {
        for number in 0..<count {
            var notification = UserNotification(id: "n\(number)", title: "number \(number)")
            notification.trigger = .timeInterval(.seconds(Int64(1 + number % 2)), repeats: false)
            try await UserNotificationCenter.shared.add(notification)
        }
    }

    private static func connect(to path: String) -> Int32 {
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        _ = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return descriptor
    }
}
