/// Calls into libraries that nothing can interrupt, on threads of their own.
///
/// A caller waits for the result, but not beyond its time limit or its cancellation: the call then continues alone, and
/// its result is discarded. A call beyond its time limit is *overdue*. Overdue calls do not keep others from starting,
/// until there are ``maximumOverdueCalls`` of them: then every call is refused until one of them ends.
///
/// Calls start in order of arrival. Neither their number nor their memory exceeds the limits, except that a call that
/// exceeds the memory alone runs by itself. Immediate calls are exempt: they start beside the others.
package final class DetachedCalls: Sendable {
    /// The resources of a call.
    package struct Reservation: Sendable {
        /// The peak memory of the call in bytes.
        package var memory: Int
        /// The longest time from the start of the call to its end.
        package var duration: Duration
        /// A Boolean value indicating whether the call starts at once or fails, for callers that must not wait.
        package var isImmediate: Bool

        /// Creates a reservation.
        package init(memory: Int = 0, duration: Duration, isImmediate: Bool = false) {
            self.memory = memory
            self.duration = duration
            self.isImmediate = isImmediate
        }
    }

    private let limits: DetachedCallTable.Limits
    private let table: Monitor<DetachedCallTable>
    private let threads: WorkPool

    /// Creates the threads' pool; no thread starts before the first call.
    ///
    /// - Parameters:
    ///   - name: The name of the threads.
    ///   - maximumConcurrentCalls: The largest number of calls within their time limits.
    ///   - maximumOverdueCalls: The largest number of calls beyond their time limits.
    ///   - memory: The memory that calls within their time limits share.
    package init(name: String, maximumConcurrentCalls: Int, maximumOverdueCalls: Int = 4, memory: ByteCount) {
        limits = .init(calls: max(1, maximumConcurrentCalls), overdueCalls: maximumOverdueCalls, memory: memory.bytes)
        table = Monitor(DetachedCallTable())
        threads = WorkPool(name: name, maximumThreadCount: limits.calls + limits.overdueCalls)
    }

    /// The number of calls that have not ended, overdue ones included.
    package var runningCallCount: Int { table.withLock { $0.runningCallCount } }

    /// Runs `body` on another thread, and blocks the calling thread until it ends, its time limit passes or `context`
    /// is cancelled.
    ///
    /// - Throws: The error of `body`; `cancelled`; `limitExceeded` if the time limit passes or too many calls are
    ///   overdue.
    package func run<Value: Sendable>(
        reserving reservation: Reservation,
        context: JobContext,
        body: @escaping @Sendable () throws(EideticError) -> Value
    ) throws(EideticError) -> Value {
        let ticket = try admit(
            Reservation(
                memory: min(max(0, reservation.memory), limits.memory),
                duration: reservation.duration,
                isImmediate: reservation.isImmediate
            ),
            context: context
        )
        let result = Monitor<Result<Value, EideticError>?>(nil)
        threads.enqueue(in: JobContext(priority: context.priority)) { [table] in
            let start = ProcessorTime.ofThread
            let outcome = Result { () throws(EideticError) in try body() }
            context.addDetachedTime(ProcessorTime.ofThread - start)
            table.withLock { $0.remove(ticket) }
            table.broadcast()
            result.withLock { $0 = outcome }
            result.broadcast()
        }
        return try wait(for: result, duration: reservation.duration, context: context).get()
    }

    /// The longest time until a waiting caller notices its cancellation.
    private static let cancellationInterval = Duration.milliseconds(20)

    private func wait<Value>(
        for result: Monitor<Result<Value, EideticError>?>,
        duration: Duration,
        context: JobContext
    ) throws(EideticError) -> Result<Value, EideticError> {
        let deadline = ContinuousClock.now + duration
        while true {
            try context.checkCancellation()
            let remaining = ContinuousClock.now.duration(to: deadline)
            guard remaining > .zero else {
                throw EideticError(.limitExceeded, message: "decoding took longer than the limit of \(duration)")
            }
            let interval = min(remaining, Self.cancellationInterval)
            if let outcome = result.wait(for: interval, until: { $0 }) { return outcome }
        }
    }

    /// Waits until the call may start, and records it as running.
    private func admit(_ reservation: Reservation, context: JobContext) throws(EideticError) -> Int {
        let ticket = table.withLock { $0.makeTicket(isWaiting: !reservation.isImmediate) }
        while true {
            let decision = table.wait(for: Self.cancellationInterval) { [limits] table in
                table.decision(for: ticket, reserving: reservation, limits: limits, isCancelled: context.isCancelled)
            }
            guard let decision else { continue }
            // The next call may start beside this one.
            table.broadcast()
            switch decision {
            case .start: return ticket
            case .cancel: throw .cancelled
            case .refuse:
                throw EideticError(
                    .limitExceeded,
                    message: "too many decodes of this format exceed their time limits and cannot be interrupted"
                )
            }
        }
    }
}
