import EideticCore
import EideticLifecycle
import EideticSupervision

/// A description of work that the user has started, and that continues when the application leaves the foreground.
public struct ContinuedProcessingTaskRequest: Sendable, Hashable {
    /// The identifier, 1 to 255 bytes, different from that of other work in progress.
    public var identifier: String
    /// The name of the work, which the user sees: at most 1,024 bytes.
    public var title: String
    /// A further line for the user: at most 1,024 bytes; empty by default.
    public var subtitle = ""

    /// Creates a description.
    public init(identifier: String, title: String) {
        self.identifier = identifier
        self.title = title
    }

    fileprivate var message: ContinuedWorkMessage {
        get throws(EideticError) {
            let limit = ContinuedWorkMessage.textLimit
            guard (1...255).contains(identifier.utf8.count), title.utf8.count <= limit, subtitle.utf8.count <= limit
            else {
                throw EideticError(
                    .invalidArgument,
                    message: "the identifier has 1 to 255 bytes, the title and the subtitle at most \(limit)"
                )
            }
            return ContinuedWorkMessage(identifier: identifier, title: title, subtitle: subtitle)
        }
    }
}

/// Work that the user has started, as passed to its operation.
public final class ContinuedProcessingTask: Sendable {
    package let identifier: String
    private let center: WakeCenter
    private let reports = Guarded(WorkProgressThrottle(interval: .seconds(1)))
    private let clock = SystemTime()

    init(identifier: String, center: WakeCenter) {
        self.identifier = identifier
        self.center = center
    }

    /// Reports progress, which the user sees while the application is in the background.
    ///
    /// In the background, work without progress for 30 s is cancelled. A changed total begins the next part of the
    /// work, and counts as progress. The function may be called for each unit: the supervisor is told at most once a
    /// second.
    ///
    /// - Parameters:
    ///   - completed: The number of completed units.
    ///   - total: The number of all units; 0 while it is unknown.
    public func updateProgress(completed: Int, of total: Int) {
        let progress = WorkProgress(completed: UInt64(max(0, completed)), total: UInt64(max(0, total)))
        switch reports.withLock({ $0.record(progress, at: clock.uptime) }) {
        case .send: center.reportContinued(identifier, progress: progress)
        case .delay(let delay): sendDelayedReport(after: delay)
        case .ignore: break
        }
    }

    private func sendDelayedReport(after delay: Duration) {
        Task {
            try? await Task.sleep(for: delay)
            guard let progress = reports.withLock({ $0.takeDelayed(at: clock.uptime) }) else { return }
            center.reportContinued(identifier, progress: progress)
        }
    }

    /// Ends the reports, as the operation has returned.
    fileprivate func end() { reports.withLock { $0.end() } }
}

extension BackgroundTaskScheduler {
    /// Performs work that the user has just started, and continues it when the application leaves the foreground.
    ///
    /// In the background a notification shows the progress, and lets the user cancel the work. No background time is
    /// used up meanwhile. The work is cancelled if it reports no progress for 30 s in the background; the application
    /// is then suspended like any other. It is also cancelled, like all work of the application, when a wake is not
    /// completed in time, or processing loses its conditions. Without a supervisor the work is an ordinary background
    /// task.
    ///
    /// The operation is cancelled from the start if no background task can be opened.
    ///
    /// - Parameters:
    ///   - request: The description for the user.
    ///   - operation: The work, in a task that is cancelled when it must end.
    /// - Returns: The value of the operation.
    /// - Throws: The error of the operation; `EideticError.Code.refused` if the application is not in the foreground,
    ///   `.permissionDenied` if it does not declare the background mode `continued`, `.limitExceeded` if eight others
    ///   are in progress, `.invalidArgument` for an identifier in use or a text that is too long.
    nonisolated(nonsending) public func perform<Value: Sendable>(
        _ request: ContinuedProcessingTaskRequest,
        operation: @escaping @Sendable (ContinuedProcessingTask) async throws -> Value
    ) async throws -> Value {
        let message = try request.message
        let center = application.wakeCenter
        guard center.reserveContinued(message) else {
            throw EideticError(.invalidArgument, message: "\(request.identifier) is under way already")
        }
        defer { center.removeContinued(request.identifier) }
        // Before the answer, as the application may leave the foreground meanwhile.
        let assertion = application.beginBackgroundTask(named: request.title) {
            center.stopContinued(message.identifier)
        }
        defer { application.endBackgroundTask(assertion) }
        let isAccepted = try await begin(message)
        if assertion == .invalid { center.stopContinued(message.identifier) }
        if isAccepted { application.count(.continued, change: 1) }
        defer {
            if isAccepted { application.count(.continued, change: -1) }
            center.post(.endContinued(message.identifier))
        }
        return try await run(operation, as: ContinuedProcessingTask(identifier: message.identifier, center: center))
    }

    /// Runs the operation in a task that the supervisor can cancel.
    private func run<Value: Sendable>(
        _ operation: @escaping @Sendable (ContinuedProcessingTask) async throws -> Value,
        as task: ContinuedProcessingTask
    ) async throws -> Value {
        let work = Task { try await operation(task) }
        application.wakeCenter.startContinued(task.identifier) { work.cancel() }
        defer { task.end() }
        return try await withTaskCancellationHandler {
            try await work.value
        } onCancel: {
            work.cancel()
        }
    }

    /// Asks the supervisor; returns `false` if there is none.
    private func begin(_ message: ContinuedWorkMessage) async throws(EideticError) -> Bool {
        let reply = await application.wakeCenter.request { .beginContinued(message, number: $0) }
        guard case .task(let fault?, _) = reply else { return true }
        if fault == .unavailable { return false }
        throw Self.error(fault, identifier: message.identifier)
    }
}
