import EideticBackground
import EideticCore

/// A sweep that waits at one of the files that it removes, until its background time has expired.
///
/// The cache's consumer of phases may not have requested one yet when the process is asked to end. Where it writes
/// nothing else, a task keeps the process running until the sweep has its own.
final class HeldSweep: SystemCallObserver, ApplicationEnvironment {
    private let file: Int?
    private let application: Application
    private let removedCount = Guarded(0)
    private let expiration = Monitor(false)

    private let firstTask: Guarded<BackgroundTaskIdentifier>

    init(file: Int?, application: Application, isAwaited: Bool) {
        self.file = file
        self.application = application
        firstTask = Guarded(isAwaited ? application.beginBackgroundTask(withName: "sweep") {} : .invalid)
    }

    var phases: AsyncStream<ApplicationPhase> { application.phases }
    var memoryPressure: AsyncStream<MemoryPressure> { application.memoryPressure }

    func beginBackgroundTask(
        named name: String,
        expirationHandler: @escaping @Sendable () -> Void
    ) -> BackgroundTaskIdentifier {
        let task = application.beginBackgroundTask(named: name) { [expiration] in
            expirationHandler()
            expiration.withLock { $0 = true }
            expiration.broadcast()
        }
        if application.state == .background { endFirstTask() }
        return task
    }

    private func endFirstTask() {
        let task = firstTask.withLock { task in
            defer { task = .invalid }
            return task
        }
        if task != .invalid { application.endBackgroundTask(task) }
    }

    func endBackgroundTask(_ identifier: BackgroundTaskIdentifier) { application.endBackgroundTask(identifier) }

    func willPerform(_ call: SystemCall, path: String?) -> Int32? {
        guard call == .unlink else { return nil }
        let count = removedCount.withLock { count in
            count += 1
            return count
        }
        guard count == file else { return nil }
        printLine("sweep held")
        expiration.wait { $0 ? () : nil }
        printLine("sweep released")
        return nil
    }
}
