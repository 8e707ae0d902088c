import EideticCore

/// The events of a session on their way to the application: in order, one at a time, each acknowledged once.
///
/// The transfer process delivers an event again until it is acknowledged; by its number the queue knows whether it is
/// waiting, being delivered, or handled before.
struct DeliveryQueue {
    /// An event of the queue.
    enum Content: Sendable {
        case transferEnded(TransferEvent)
        /// A task has ended that the transfer process does not know.
        case taskFailed(identifier: UInt64, EideticError)
        /// All events that were waiting for this process are handled.
        case sessionFinished
    }

    struct Entry: Sendable {
        /// The number by which the event is acknowledged; `nil` for an event of this process.
        let number: UInt64?
        /// The task that the event belongs to; `nil` for an event of the session.
        let task: UInt64?
        let content: Content
    }

    /// The outcome of an insertion.
    enum Insertion: Sendable, Hashable {
        case added
        /// The event is waiting or being delivered.
        case known
        /// The event was handled, and the acknowledgement was lost.
        case handled
    }

    private(set) var waiting: ArraySlice<Entry> = []
    private(set) var current: Entry?
    private var known: Set<UInt64> = []
    private var handled = RangeSet<UInt64>()
    private var lastFinish: UInt64?

    /// A Boolean value indicating whether no event is waiting or being delivered.
    var isEmpty: Bool { waiting.isEmpty && current == nil }

    mutating func insert(_ event: TransferEvent, task: UInt64) -> Insertion {
        if handled.contains(event.number) { return .handled }
        guard known.insert(event.number).inserted else { return .known }
        let entry = Entry(number: event.number, task: task, content: .transferEnded(event))
        // Numbers increase; after a reconnection those before the last known one may come late.
        let place = waiting.lastIndex { ($0.number ?? 0) < event.number || $0.number == nil }
        waiting.insert(entry, at: place.map { $0 + 1 } ?? waiting.startIndex)
        return .added
    }

    /// Adds an event of this process.
    mutating func append(_ content: Content, task: UInt64?) {
        waiting.append(Entry(number: nil, task: task, content: content))
    }

    /// Adds the end of all transfers, unless it was added before; returns whether it was added.
    mutating func insertFinish(lastEvent: UInt64) -> Bool {
        guard lastFinish != lastEvent else { return false }
        lastFinish = lastEvent
        append(.sessionFinished, task: nil)
        return true
    }

    /// Adds the end of all events for a wake, unless an event or another end is waiting or being delivered; returns
    /// whether it was added.
    mutating func insertFinishIfEmpty() -> Bool {
        guard isEmpty else { return false }
        // The same end, announced by the transfer process, does not follow.
        if let last = handled.ranges.last { lastFinish = last.upperBound - 1 }
        append(.sessionFinished, task: nil)
        return true
    }

    /// Returns a waiting event, and counts it as being delivered; `nil` while another one is.
    ///
    /// Takes constant time for the first one.
    mutating func take(at index: Int) -> Entry? {
        guard current == nil, waiting.indices.contains(index) else { return nil }
        current = index == waiting.startIndex ? waiting.removeFirst() : waiting.remove(at: index)
        return current
    }

    /// Makes the event that is being delivered wait again, before all others.
    mutating func returnCurrent() {
        guard let entry = current else { return }
        waiting.insert(entry, at: waiting.startIndex)
        current = nil
    }

    /// Counts the event that is being delivered as handled, and returns the number to acknowledge.
    mutating func finishCurrent() -> UInt64? {
        defer { current = nil }
        guard let number = current?.number else { return nil }
        known.remove(number)
        handled.insert(contentsOf: number..<number + 1)
        return number
    }

    /// Leaves the event that is being delivered to the next process: it is not acknowledged, and does not come again.
    mutating func abandonCurrent() { current = nil }
}
