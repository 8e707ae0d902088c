public import EideticCore

extension Application: BackgroundTaskProvider {
    /// Opens a background task, for an operation that must finish even if the application leaves the foreground.
    ///
    /// Call it before the operation, on any thread, in any state. While a task is open and background time remains, the
    /// process is neither suspended nor terminated. In the foreground the call takes tens of nanoseconds, without a
    /// system call.
    ///
    /// - Parameters:
    ///   - name: The name of the task in the report if it is not ended in time.
    ///   - expirationHandler: Called once, on the main actor, shortly before background time ends. All handlers
    ///     together have 5 s. The handler must end the task.
    /// - Returns: The identifier of the task; `.invalid` if background time has expired or the application is about to
    ///   terminate.
    public func beginBackgroundTask(
        withName name: String? = nil,
        expirationHandler: (@MainActor @Sendable () -> Void)? = nil
    ) -> BackgroundTaskIdentifier {
        let handler = expirationHandler.map { BackgroundTaskTable.Handler.mainActor($0) } ?? .none
        return BackgroundTaskIdentifier(rawValue: tasks.begin(name ?? "unnamed", handler: handler))
    }

    /// Opens a background task for a library: the handler is called on a thread of Eidetic, beside other handlers.
    ///
    /// If the handler blocks, the task stays open, and the process is killed at the limit.
    package func beginBackgroundTask(
        named name: String,
        expirationHandler: @escaping @Sendable () -> Void
    ) -> BackgroundTaskIdentifier {
        BackgroundTaskIdentifier(rawValue: tasks.begin(name, handler: .anyThread(expirationHandler)))
    }

    /// Ends a background task; necessary even after its expiration.
    ///
    /// A second call for the same task is logged, and otherwise ignored; a call for `.invalid` is ignored.
    public func endBackgroundTask(_ identifier: BackgroundTaskIdentifier) {
        if tasks.end(identifier.rawValue) || identifier == .invalid { return }
        Log.write(.warning, category: .background, message: "cannot end a background task that is not open")
    }

    /// The sorted names of the open background tasks, for logs and status pages; consumers of streams are not listed.
    package var openTaskNames: [String] { tasks.names }

    /// The remaining background time; `Int64.max` seconds in the foreground, or without a limit.
    ///
    /// Time in which the process is stopped does not count.
    public var backgroundTimeRemaining: Duration {
        guard let deadline = tasks.deadline else { return .seconds(Int64.max) }
        return max(.zero, deadline - clock.uptime)
    }

    /// Runs `operation` as a background task, which is cancelled when background time expires, and waits for it to
    /// return.
    ///
    /// If no task can be opened, `operation` is cancelled from the start. Cancelling the calling task cancels
    /// `operation`.
    ///
    /// - Parameters:
    ///   - name: The name of the task in reports.
    ///   - operation: The operation to run.
    /// - Returns: The result of `operation`.
    /// - Throws: The error of `operation`.
    nonisolated(nonsending) public func withBackgroundTask<Value: Sendable, Failure: Error>(
        named name: String,
        operation: @escaping @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let task = Task<Result<Value, Failure>, Never> {
            do throws(Failure) { return .success(try await operation()) } catch { return .failure(error) }
        }
        let identifier = beginBackgroundTask(named: name) { task.cancel() }
        if identifier == .invalid { task.cancel() }
        // Ends the background task wherever the operation ends: the caller's actor may be busy then.
        let end = Task<Void, Never>.detached(priority: Task.currentPriority) { [self] in
            _ = await task.value
            if identifier != .invalid { endBackgroundTask(identifier) }
        }
        let result = await withTaskCancellationHandler {
            await end.value
            return await task.value
        } onCancel: {
            task.cancel()
        }
        return try result.get()
    }
}
