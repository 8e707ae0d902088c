import EideticCore

/// A sequence of values for any number of streams.
package final class Broadcast<Element: Sendable>: Sendable {
    private struct Subscriber {
        weak var mailbox: Mailbox<Element>?
    }

    private struct State {
        var subscribers: [Subscriber] = []
        var latest: Element?
        var isFinished = false
    }

    private let state: Guarded<State>
    private let tasks: BackgroundTaskTable?
    private let name: String
    private let keepsRunning: @Sendable (Element) -> Bool

    /// Creates a broadcast; `initialValue` is the latest value before the first one is posted.
    ///
    /// With `tasks` a background task is open while a consumer handles a value for which `keepsRunning` returns `true`.
    package init(
        name: String,
        initialValue: Element? = nil,
        holdingTasksIn tasks: BackgroundTaskTable? = nil,
        for keepsRunning: @escaping @Sendable (Element) -> Bool = { _ in true }
    ) {
        self.name = name
        self.tasks = tasks
        self.keepsRunning = keepsRunning
        state = Guarded(State(latest: initialValue))
    }

    /// Returns a stream of every later value; with `startingWithLatest`, of the latest value and every one after it.
    package func stream(startingWithLatest: Bool = false) -> AsyncStream<Element> {
        let mailbox = Mailbox<Element>(name: name, holdingTasksIn: tasks, for: keepsRunning)
        let isFinished = state.withLock { state in
            if startingWithLatest, let latest = state.latest { mailbox.post(latest) }
            state.subscribers.removeAll { $0.mailbox == nil }
            state.subscribers.append(Subscriber(mailbox: mailbox))
            return state.isFinished
        }
        if isFinished { mailbox.finish() }
        return AsyncStream { await mailbox.next() }
    }

    /// Sends a value to all streams; to be called by one thread only if the order matters.
    package func post(_ element: Element) {
        let mailboxes = state.withLock { state in
            state.latest = element
            return state.subscribers.compactMap(\.mailbox)
        }
        for mailbox in mailboxes { mailbox.post(element) }
    }

    func finish() {
        let mailboxes = state.withLock { state in
            state.isFinished = true
            return state.subscribers.compactMap(\.mailbox)
        }
        for mailbox in mailboxes { mailbox.finish() }
    }

    /// A Boolean value indicating whether all streams have ended.
    var isAbandoned: Bool { state.withLock { $0.subscribers.allSatisfy { $0.mailbox == nil } } }
}
