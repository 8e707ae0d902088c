import EideticCore

extension DiskCache {
    /// Runs an operation on a thread of the cache, covered by the background task from now until it ends.
    func perform<Value: Sendable>(
        priority: LoadPriority = .normal,
        operation: @escaping @Sendable () throws(EideticError) -> Value
    ) async throws(EideticError) -> Value {
        try workGroup.enter()
        defer { workGroup.leave() }
        return try await pool.run(in: JobContext(priority: priority)) { _ throws(EideticError) in
            try self.workGroup.checkNotExpired()
            return try operation()
        }
    }

    /// Runs an operation that is cancelled when the background time expires.
    func performCancellable<Value: Sendable>(
        _ operation: @escaping @Sendable (JobContext) throws(EideticError) -> Value
    ) async throws(EideticError) -> Value {
        let context = JobContext(priority: .low)
        try workGroup.enter(cancellable: context)
        defer { workGroup.leave(cancellable: context) }
        return try await pool.run(in: context, operation: operation)
    }
}
