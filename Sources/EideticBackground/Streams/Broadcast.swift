import EideticCore

/// One source of values, any number of streams.
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

    /// `first` is what streams begin with until something is posted; `nil`: they have only what comes after them.
    package init(name: String, initialValue: Element? = nil, holdingTasksIn tasks: BackgroundTaskTable? = nil) {
        (self.name, self.tasks) = (name, tasks)
        state = Guarded(State(latest: initialValue))
    }

    /// A stream of every value from now on; `fromLatest`: beginning with the last one, and none in between missing.
    package func stream(startingWithLatest: Bool = false) -> AsyncStream<Element> {
        let mailbox = Mailbox<Element>(name: name, holdingTasksIn: tasks)
        let isFinished = state.withLock { state in
            if startingWithLatest, let latest = state.latest { mailbox.post(latest) }
            state.subscribers.removeAll { $0.mailbox == nil }
            state.subscribers.append(Subscriber(mailbox: mailbox))
            return state.isFinished
        }
        if isFinished { mailbox.finish() }
        return AsyncStream { await mailbox.next() }
    }

    /// Tells all streams; where order matters, to be called by one thread only.
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

    /// Whether all its streams are gone.
    var isAbandoned: Bool { state.withLock { $0.subscribers.allSatisfy { $0.mailbox == nil } } }
}
