import EideticBackground
import EideticCore

/// A sweep that waits at one of the files that it removes, until its background time has expired.
final class HeldSweep: SystemCallObserver, ApplicationEnvironment {
    private let file: Int?
    private let application: Application
    private let removedCount = Guarded(0)
    private let expiration = Monitor(false)

    init(file: Int?, application: Application) { (self.file, self.application) = (file, application) }

    var phases: AsyncStream<ApplicationPhase> { application.phases }
    var memoryPressure: AsyncStream<MemoryPressure> { application.memoryPressure }

    func beginBackgroundTask(
        named name: String,
        expirationHandler: @escaping @Sendable () -> Void
    ) -> BackgroundTaskIdentifier {
        application.beginBackgroundTask(named: name) { [expiration] in
            expirationHandler()
            expiration.withLock { $0 = true }
            expiration.broadcast()
        }
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
