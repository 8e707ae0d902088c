import EideticCore

/// One source of values, any number of streams.
final class Broadcast<Element: Sendable>: Sendable {
    private struct Entry {
        weak var mailbox: Mailbox<Element>?
    }

    private let entries = Guarded((open: [Entry](), isFinished: false))
    private let tasks: TaskTable?
    private let name: String

    init(_ name: String, holdingIn tasks: TaskTable? = nil) { (self.name, self.tasks) = (name, tasks) }

    /// A stream of every value from now on, beginning with `first` where it is given.
    func stream(first: Element? = nil) -> AsyncStream<Element> {
        let mailbox = Mailbox<Element>(name, holdingIn: tasks)
        if let first { mailbox.post(first) }
        let isFinished = entries.withLock { entries in
            entries.open.removeAll { $0.mailbox == nil }
            entries.open.append(Entry(mailbox: mailbox))
            return entries.isFinished
        }
        if isFinished { mailbox.finish() }
        return AsyncStream { await mailbox.next() }
    }

    func post(_ element: Element) { for mailbox in mailboxes { mailbox.post(element) } }

    func finish() {
        entries.withLock { $0.isFinished = true }
        for mailbox in mailboxes { mailbox.finish() }
    }

    /// Whether all its streams are gone.
    var isAbandoned: Bool { mailboxes.isEmpty }

    private var mailboxes: [Mailbox<Element>] { entries.withLock { $0.open.compactMap(\.mailbox) } }
}
