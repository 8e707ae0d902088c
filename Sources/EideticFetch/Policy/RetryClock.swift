/// Lets time pass between two attempts; tests put in their own.
package protocol RetryClock: Sendable {
    /// Returns after `delay`, or as soon as the task is cancelled.
    func wait(for delay: Duration) async
}

/// The clock of the system.
struct SystemRetryClock: RetryClock {
    func wait(for delay: Duration) async { try? await Task.sleep(for: delay) }
}
