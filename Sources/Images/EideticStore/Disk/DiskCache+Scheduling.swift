package import EideticCore

extension DiskCache {
    /// Announces work on the disk that follows, and covers it by a background task from now until it is ended.
    ///
    /// - Parameter onExpiration: Called at most once, on any thread, when the background time expires before the end.
    /// - Returns: The work, which must be ended.
    /// - Throws: `cancelled` if the background time has expired.
    package func beginWork(
        onExpiration: (@Sendable () -> Void)? = nil
    ) throws(EideticError) -> BackgroundWork {
        try workGroup.begin(onExpiration: onExpiration)
    }

    /// Runs an operation on a thread of the cache, covered by the background task from this call until it ends.
    nonisolated(nonsending) func perform<Value: Sendable>(
        operation: @escaping @Sendable () throws(EideticError) -> Value
    ) async throws(EideticError) -> Value {
        try await perform(within: try beginWork(), operation: operation)
    }

    /// Runs an operation on a thread of the cache as a part of work that was announced.
    nonisolated(nonsending) func perform<Value: Sendable>(
        within work: BackgroundWork,
        operation: @escaping @Sendable () throws(EideticError) -> Value
    ) async throws(EideticError) -> Value {
        // An operation that is cancelled while it is queued ends here, any other on its thread.
        defer { work.end() }
        return try await pool.run { _ throws(EideticError) in
            defer { work.end() }
            try work.waitUntilAdmitted()
            return try operation()
        }
    }

    /// Runs an operation that is cancelled when the background time expires.
    nonisolated(nonsending) func performCancellable<Value: Sendable>(
        operation: @escaping @Sendable (JobContext) throws(EideticError) -> Value
    ) async throws(EideticError) -> Value {
        let context = JobContext(priority: .low)
        let work = try workGroup.begin { context.cancel() }
        defer { work.end() }
        return try await pool.run(in: context) { context throws(EideticError) in
            defer { work.end() }
            try work.waitUntilAdmitted()
            return try operation(context)
        }
    }

    /// Runs an operation on the caller's thread, covered by the background task.
    func covered<Value>(_ operation: () throws(EideticError) -> Value) throws(EideticError) -> Value {
        try workGroup.run(operation: operation)
    }

    /// Runs an operation on the caller's thread; its context is cancelled when the background time expires.
    func coveredCancellable<Value>(
        _ operation: (JobContext) throws(EideticError) -> Value
    ) throws(EideticError) -> Value {
        let context = JobContext()
        return try workGroup.run(cancellable: context) { () throws(EideticError) in try operation(context) }
    }

    /// Queues an operation of low priority for a thread of the cache.
    ///
    /// - Parameters:
    ///   - operation: The operation; its context is cancelled when the background time expires.
    ///   - onRefusal: Called instead if the background time has expired.
    func schedule(
        _ operation: @escaping @Sendable (DiskCache, JobContext) -> Void,
        onRefusal: @escaping @Sendable (DiskCache) -> Void = { _ in }
    ) {
        let context = JobContext(priority: .low)
        guard let work = try? workGroup.begin(onExpiration: { context.cancel() }) else { return onRefusal(self) }
        pool.enqueue(in: context) { [weak self] in
            defer { work.end() }
            guard let self else { return }
            let isAdmitted = (try? work.waitUntilAdmitted()) != nil
            if isAdmitted { operation(self, context) } else { onRefusal(self) }
        }
    }
}
