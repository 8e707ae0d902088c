/// A clock for the back-off between two attempts; tests replace it.
package protocol RetryClock: Sendable {
    /// Returns after `delay`, or as soon as the task is cancelled.
    func wait(for delay: Duration) async
}

struct SystemRetryClock: RetryClock {
    func wait(for delay: Duration) async { try? await Task.sleep(for: delay) }
}
