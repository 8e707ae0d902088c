import EideticSupervision

/// Asks for the names of open tasks in the middle of a callback's time: one that takes too long is reported with them.
package struct TaskNames: ApplicationComponent {
    package private(set) var deadline: Duration?
    private var lastRequest: UInt64 = 0

    package init() {}

    /// Waits for the middle of the time of a callback.
    package mutating func expectCallback(until end: Duration, at now: Duration) { deadline = now + (end - now) / 2 }

    /// Waits no more, as the callback was acknowledged.
    package mutating func cancel() { deadline = nil }

    /// Asks for the names, if there are any.
    package mutating func request(in view: ApplicationView) -> [ApplicationEffect] {
        deadline = nil
        guard let process = view.process, process.isWelcomed, process.openTasks() > 0 else { return [] }
        lastRequest += 1
        return [.send(.taskNames(request: lastRequest))]
    }

    package mutating func handle(_ change: ApplicationChange, in view: ApplicationView) -> [ApplicationEffect] {
        if change == .processChanged { cancel() }
        return change == .deadline ? request(in: view) : []
    }
}
