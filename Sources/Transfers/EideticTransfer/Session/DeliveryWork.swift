import EideticCore

/// A background task for the time of a delivery, so that the process is not suspended between an event and its
/// acknowledgement.
final class DeliveryWork: Sendable {
    private let task = Guarded(BackgroundTaskIdentifier.invalid)

    init() {
        let environment = DefaultEnvironment.shared
        let identifier = environment.beginBackgroundTask(named: "background session events") { [weak self] in
            self?.end()
        }
        task.withLock { $0 = identifier }
    }

    func end() {
        let identifier = task.withLock { task in
            defer { task = .invalid }
            return task
        }
        DefaultEnvironment.shared.endBackgroundTask(identifier)
    }
}
