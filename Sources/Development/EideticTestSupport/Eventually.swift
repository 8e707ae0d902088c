import EideticCore
import Glibc

/// Waits until `condition` is true.
///
/// For what reports no event of its own. The condition is evaluated where the caller runs; a thread of this module
/// measures the millisecond between two evaluations, so neither a processor nor the cooperative pool is kept busy.
///
/// ```swift
/// try await eventually("three calls run") { calls.runningCallCount == 3 }
/// ```
///
/// - Parameters:
///   - event: The event that is awaited, for the message.
///   - limit: The time after which the wait fails, as a net against hanging.
///   - fileID: The file of the wait, for the message.
///   - line: The line of the wait, for the message.
///   - condition: The condition, which is evaluated again and again.
/// - Throws: `EventNotReached` after `limit`, or when the task is cancelled (as a time limit of a test does), and the
///   errors of `condition`.
package nonisolated(nonsending) func eventually(
    _ event: String,
    limit: Duration = .seconds(60),
    fileID: String = #fileID,
    line: Int = #line,
    until condition: nonisolated(nonsending) () async throws -> Bool
) async throws {
    _ = try await eventually(event, limit: limit, fileID: fileID, line: line, value: condition, until: \.self)
}

/// Waits until `value` returns `expected`.
///
/// ```swift
/// try await eventually("number of running calls", is: 3) { calls.runningCallCount }
/// ```
///
/// - Parameters:
///   - name: The name of the value that is awaited, for the message.
///   - expected: The value to wait for.
///   - limit: The time after which the wait fails, as a net against hanging.
///   - fileID: The file of the wait, for the message.
///   - line: The line of the wait, for the message.
///   - value: Returns the value at the time of the call.
/// - Throws: `EventNotReached`, which contains the last value, after `limit`, or when the task is cancelled, and the
///   errors of `value`.
package nonisolated(nonsending) func eventually<Value: Equatable>(
    _ name: String,
    is expected: Value,
    limit: Duration = .seconds(60),
    fileID: String = #fileID,
    line: Int = #line,
    _ value: nonisolated(nonsending) () async throws -> Value
) async throws {
    let event = "\(name) is \(expected)"
    _ = try await eventually(event, limit: limit, fileID: fileID, line: line, value: value) { $0 == expected }
}

/// Waits until `condition` is true of the result of `value`.
///
/// ```swift
/// try await eventually("at least two jobs wait", value: { pool.waitingJobCount }, until: { $0 >= 2 })
/// ```
///
/// - Parameters:
///   - event: The event that is awaited, for the message.
///   - limit: The time after which the wait fails, as a net against hanging.
///   - fileID: The file of the wait, for the message.
///   - line: The line of the wait, for the message.
///   - value: Returns the value at the time of the call.
///   - condition: The condition.
/// - Returns: The first value of which the condition is true.
/// - Throws: `EventNotReached`, which contains the last value, after `limit`, or when the task is cancelled, and the
///   errors of `value`.
@discardableResult
package nonisolated(nonsending) func eventually<Value>(
    _ event: String,
    limit: Duration = .seconds(60),
    fileID: String = #fileID,
    line: Int = #line,
    value: nonisolated(nonsending) () async throws -> Value,
    until condition: (Value) -> Bool
) async throws -> Value {
    let end = SystemTime().uptime + limit
    while true {
        let last = try await value()
        if condition(last) { return last }
        let isCancelled = Task.isCancelled
        if isCancelled || SystemTime().uptime >= end {
            throw EventNotReached(
                event: event,
                limit: isCancelled ? nil : limit,
                lastValue: String(describing: last),
                location: "\(fileID):\(line)"
            )
        }
        await Pause.shared.wait()
    }
}

/// Blocks the calling thread until `condition` is true; for deinitializers, which cannot suspend.
package func blockUntil(_ condition: () -> Bool) { while !condition() { usleep(1_000) } }

/// An event that a test has awaited in vain.
package struct EventNotReached: Error, CustomStringConvertible {
    /// The event.
    package let event: String
    /// The time that has passed; `nil` where the task was cancelled.
    package let limit: Duration?
    /// The last value seen.
    package let lastValue: String
    /// The file and the line of the wait.
    package let location: String

    package var description: String {
        let time = limit.map { "within \($0)" } ?? "until the task was cancelled"
        return "\(location): not reached \(time): \(event); last seen: \(lastValue)"
    }
}

/// A thread that resumes waiting tasks after a millisecond.
private final class Pause: Sendable {
    static let shared = Pause()

    private let monitor = Monitor<[CheckedContinuation<Void, Never>]>([])

    private init() {
        Thread.start(name: "eventually") { [monitor] in
            while true {
                monitor.wait { $0.isEmpty ? nil : () }
                usleep(1_000)
                let waiting = monitor.withLock { state in
                    defer { state = [] }
                    return state
                }
                for continuation in waiting { continuation.resume() }
            }
        }
    }

    nonisolated(nonsending) func wait() async {
        await withCheckedContinuation { continuation in
            monitor.withLock { $0.append(continuation) }
            monitor.signal()
        }
    }
}
