package import EideticCore

/// The threads of a disk cache, and the background task that covers the work on them.
package struct DiskWork: Sendable {
    let group: BackgroundWorkGroup
    let pool = WorkPool(name: "eidetic-disk", maximumThreadCount: 4, isForFiles: true)

    /// Announces work on the disk that follows, and covers it by a background task from now until it is ended.
    ///
    /// - Parameter onExpiration: Called at most once, on any thread, when the background time expires before the end.
    /// - Returns: The work, which must be ended.
    /// - Throws: `cancelled` if the background time has expired.
    package func begin(onExpiration: (@Sendable () -> Void)? = nil) throws(EideticError) -> BackgroundWork {
        try group.begin(onExpiration: onExpiration)
    }

    /// Runs an operation on a thread of the cache, covered by the background task from this call until it ends.
    nonisolated(nonsending) func perform<Value: Sendable>(
        operation: @escaping @Sendable () throws(EideticError) -> Value
    ) async throws(EideticError) -> Value {
        try await perform(within: try begin(), operation: operation)
    }

    /// Runs an operation on a thread of the cache as a part of work that was announced, and ends that.
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
        let work = try group.begin { context.cancel() }
        defer { work.end() }
        return try await pool.run(in: context) { context throws(EideticError) in
            defer { work.end() }
            try work.waitUntilAdmitted()
            return try operation(context)
        }
    }

    /// Runs an operation on the caller's thread; its context is cancelled when the background time expires.
    func runCancellable<Value>(
        _ operation: (JobContext) throws(EideticError) -> Value
    ) throws(EideticError) -> Value {
        let context = JobContext()
        return try group.run(cancellable: context) { () throws(EideticError) in try operation(context) }
    }

    /// Queues an operation of low priority, which is left out if its owner is released before.
    ///
    /// - Parameters:
    ///   - owner: The owner of the operation.
    ///   - operation: The operation; its context is cancelled when the background time expires.
    ///   - onRefusal: Called instead if the background time has expired.
    func schedule<Owner: AnyObject & Sendable>(
        for owner: Owner,
        operation: @escaping @Sendable (Owner, JobContext) -> Void,
        onRefusal: @escaping @Sendable (Owner) -> Void = { _ in }
    ) {
        let context = JobContext(priority: .low)
        guard let work = try? group.begin(onExpiration: { context.cancel() }) else { return onRefusal(owner) }
        pool.enqueue(in: context) { [weak owner] in
            defer { work.end() }
            guard let owner else { return }
            let isAdmitted = (try? work.waitUntilAdmitted()) != nil
            if isAdmitted { operation(owner, context) } else { onRefusal(owner) }
        }
    }
}
