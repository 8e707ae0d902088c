import EideticBackground
import EideticCore
import EideticTransfer
import Glibc

/// An application that downloads numbered files, and handles their events when it is woken; prints its callbacks.
///
/// After a launch by the user it hands over its downloads. It opens its session for a wake only when it is told to.
@MainActor
final class ApplicationProbe: ApplicationDelegate, BackgroundURLSessionDelegate {
    private let root: String
    private let base: String
    private let count: Int
    private let configuration: BackgroundURLSession.Configuration
    private var session: BackgroundURLSession?
    private let log: Int32
    private var completion: (@MainActor @Sendable () -> Void)?

    init(root: String, base: String, count: Int, configuration: BackgroundURLSession.Configuration) {
        self.root = root
        self.base = base
        self.count = count
        self.configuration = configuration
        log = open("\(root)/log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    }

    func run() async throws(EideticError) {
        var settings = Application.Configuration()
        settings.usesLoginManager = false
        settings.monitorsMemory = false
        try Application.shared.start(settings, delegate: self)
        await Application.shared.waitUntilTerminated()
    }

    private func say(_ text: String) { _ = "\(text)\n".withCString { Glibc.write(STDOUT_FILENO, $0, strlen($0)) } }

    func application(_ application: Application, didFinishLaunchingWith options: LaunchOptions) {
        say("launched for \(options.reason)")
        if options.reason == .user { startHandOver() }
    }

    /// Hands over the downloads that are missing, before the application may be suspended.
    private func startHandOver() {
        performInBackground(named: "hand over") { [self] in
            do throws(EideticError) { try await handOver() } catch { say("failed: \(error)") }
        }
    }

    /// Performs work during which the application is not suspended.
    private func performInBackground(named name: String, work: @escaping @MainActor @Sendable () async -> Void) {
        let task = Application.shared.beginBackgroundTask(withName: name) {}
        Task {
            await work()
            Application.shared.endBackgroundTask(task)
        }
    }

    private func openSession() throws(EideticError) -> BackgroundURLSession {
        if let session { return session }
        let session = try BackgroundURLSession(configuration: configuration, delegate: self)
        self.session = session
        return session
    }

    private func handOver() async throws(EideticError) {
        let session = try openSession()
        let known = Set(try await session.allTasks.compactMap(\.taskDescription))
        for number in 0..<count where !known.contains("\(number)") && !isComplete(number) {
            try session.task(forFile: number, of: base, root: root).resume()
        }
        for task in try await session.allTasks { try await task.waitUntilAccepted() }
        say("accepted")
        await reportCompletion()
    }

    private func isComplete(_ number: Int) -> Bool { access("\(root)/output/\(number)", F_OK) == 0 }

    /// Writes a line when all files have come and all events are acknowledged.
    private func reportCompletion() async {
        guard let session, (0..<count).allSatisfy(isComplete) else { return }
        await session.waitUntilAcknowledged()
        if (try? await session.allTasks)?.isEmpty ?? false { write("all handled") }
    }

    private func write(_ line: String) { _ = "\(line)\n".withCString { Glibc.write(log, $0, strlen($0)) } }

    func applicationDidEnterBackground(_ application: Application) { say("in the background") }

    func application(
        _ application: Application,
        handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping @MainActor @Sendable () -> Void
    ) {
        say("handle events of \(identifier)")
        if access("\(root)/fault", F_OK) == 0 { exit(3) }
        completion = completionHandler
        do throws(EideticError) { _ = try openSession() } catch { say("failed: \(error)") }
    }

    func urlSession(
        _ session: BackgroundURLSession,
        downloadTask task: DownloadTask,
        didFinishDownloadingTo path: String
    ) {
        let name = task.taskDescription ?? ""
        let isMoved = rename(path, "\(root)/output/\(name)") == 0
        say("finished \(name) \(isMoved)")
        write("\(isMoved ? "moved" : "missing") \(name)")
    }

    func urlSession(
        _ session: BackgroundURLSession,
        task: TransferTask,
        didCompleteWithError error: EideticError?
    ) {
        for line in task.completionLines(root: root, error: error) { write(line) }
        // The wake ends with the last event.
        startReport()
    }

    private func startReport() { performInBackground(named: "report") { [self] in await reportCompletion() } }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: BackgroundURLSession) {
        say("finished events, \(completion == nil ? "not woken" : "woken")")
        completion?()
        completion = nil
        // An earlier process may have been killed before it had handed over all, or had reported that all is handled.
        if (0..<count).allSatisfy(isComplete) { startReport() } else { startHandOver() }
    }
}
