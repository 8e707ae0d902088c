public import EideticCore

extension Application: BackgroundTaskProvider {
    /// Says that work begins which is to be finished also where the application leaves the foreground.
    ///
    /// Call it before the work, on any thread, in any state. The process is neither suspended nor ended while a task is
    /// open and background time is left. It costs tens of nanoseconds and makes no system call in the foreground.
    ///
    /// `name` stands in the report where the task is not ended in time. `expirationHandler` is called once, on the main
    /// actor, shortly before background time ends; all handlers together have 5 s. The task must be ended there, too.
    ///
    /// Gives `.invalid` where no task may begin: time is up, or the application is about to end.
    public func beginBackgroundTask(
        withName name: String? = nil,
        expirationHandler: (@MainActor @Sendable () -> Void)? = nil
    ) -> BackgroundTaskIdentifier {
        let handler = expirationHandler.map { BackgroundTaskTable.Handler.mainActor($0) } ?? .none
        return BackgroundTaskIdentifier(rawValue: tasks.begin(name ?? "unnamed", handler: handler))
    }

    /// The same for libraries: the handler is called on a thread of Eidetic's, and must return at once.
    public func beginBackgroundTask(
        named name: String,
        expirationHandler: @escaping @Sendable () -> Void
    ) -> BackgroundTaskIdentifier {
        BackgroundTaskIdentifier(rawValue: tasks.begin(name, handler: .anyThread(expirationHandler)))
    }

    /// Says that the work is over; also necessary after its time has run out.
    ///
    /// A second call for the same task, and one for `.invalid`, do nothing but write a line to the log.
    public func endBackgroundTask(_ identifier: BackgroundTaskIdentifier) {
        if tasks.end(identifier.rawValue) || identifier == .invalid { return }
        Log.write(.warning, category: .background, message: "a background task was ended that is not open")
    }

    /// The names of the open background tasks, sorted; for logs and status pages.
    public var openTaskNames: [String] { tasks.names }

    /// How long tasks may stay open; endless in the foreground.
    public var backgroundTimeRemaining: Duration {
        guard let deadline = tasks.deadline else { return .seconds(Int64.max) }
        return max(.zero, deadline - clock.uptime)
    }

    /// Runs `body` as a background task: it is cancelled when its time is up, and waited for in any case.
    ///
    /// Where no task may begin any more `body` runs cancelled from its start. Cancelling the calling task cancels
    /// `body`.
    public func withBackgroundTask<Value: Sendable>(
        named name: String,
        operation body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let work = Task(operation: body)
        let identifier = beginBackgroundTask(named: name) { work.cancel() }
        defer { if identifier != .invalid { endBackgroundTask(identifier) } }
        if identifier == .invalid { work.cancel() }
        return try await withTaskCancellationHandler {
            try await work.value
        } onCancel: {
            work.cancel()
        }
    }
}

/// A background task that ends when this value does: it cannot be forgotten, and not be ended twice.
public struct BackgroundTaskAssertion: ~Copyable, Sendable {
    private let application: Application
    private let identifier: BackgroundTaskIdentifier

    /// Begins a task; see ``Application/beginBackgroundTask(withName:expirationHandler:)``.
    public init(
        named name: String,
        in application: Application = .shared,
        expirationHandler: (@MainActor @Sendable () -> Void)? = nil
    ) {
        self.application = application
        identifier = application.beginBackgroundTask(withName: name, expirationHandler: expirationHandler)
    }

    deinit { if isValid { application.endBackgroundTask(identifier) } }

    /// Whether there is a task: `false` where none could begin.
    public var isValid: Bool { identifier != .invalid }

    /// Ends the task now.
    public consuming func end() {}
}
