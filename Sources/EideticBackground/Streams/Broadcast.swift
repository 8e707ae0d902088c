import EideticCore

/// One source of values, any number of streams.
package final class Broadcast<Element: Sendable>: Sendable {
    private struct Entry {
        weak var mailbox: Mailbox<Element>?
    }

    private struct State {
        var open: [Entry] = []
        var latest: Element?
        var isFinished = false
    }

    private let state: Guarded<State>
    private let tasks: TaskTable?
    private let name: String

    /// `first` is what streams begin with until something is posted; `nil`: they have only what comes after them.
    package init(_ name: String, first: Element? = nil, holdingIn tasks: TaskTable? = nil) {
        (self.name, self.tasks) = (name, tasks)
        state = Guarded(State(latest: first))
    }

    /// A stream of every value from now on; `fromLatest`: beginning with the last one, and none in between missing.
    package func stream(fromLatest: Bool = false) -> AsyncStream<Element> {
        let mailbox = Mailbox<Element>(name, holdingIn: tasks)
        let isFinished = state.withLock { state in
            if fromLatest, let latest = state.latest { mailbox.post(latest) }
            state.open.removeAll { $0.mailbox == nil }
            state.open.append(Entry(mailbox: mailbox))
            return state.isFinished
        }
        if isFinished { mailbox.finish() }
        return AsyncStream { await mailbox.next() }
    }

    /// Tells all streams; where order matters, to be called by one thread only.
    package func post(_ element: Element) {
        let mailboxes = state.withLock { state in
            state.latest = element
            return state.open.compactMap(\.mailbox)
        }
        for mailbox in mailboxes { mailbox.post(element) }
    }

    func finish() {
        let mailboxes = state.withLock { state in
            state.isFinished = true
            return state.open.compactMap(\.mailbox)
        }
        for mailbox in mailboxes { mailbox.finish() }
    }

    /// Whether all its streams are gone.
    var isAbandoned: Bool { state.withLock { $0.open.allSatisfy { $0.mailbox == nil } } }
}
