import EideticCore

/// The way of events to the iterators of one sequence; one has handled an event when it requests the next one.
///
/// An event goes to one iterator. If that one ends without another request, the event goes to another iterator of the
/// sequence, or counts as not handled.
final class EventMailbox: Sendable {
    typealias Event = BackgroundURLSession.Event
    fileprivate typealias Consumer = Waiter<Event?>

    fileprivate struct State {
        var event: Event?
        var delivery: Waiter<Bool>?
        /// The iterator that has the event; `nil` if none does.
        var holder: UInt64?
        /// The iterators that wait for an event, in the order of their requests.
        var waiting: [(iterator: UInt64, consumer: Consumer)] = []
        /// The iterators that have not ended.
        var iterators: Set<UInt64> = []
        var lastIterator: UInt64 = 0
        var isFinished = false
    }

    private let state = Guarded(State())
    var isFinished: Bool { state.withLock { $0.isFinished } }

    /// Delivers an event, and returns whether a consumer has handled it; `false` if all are gone.
    func deliver(_ event: Event) async -> Bool {
        let delivery = Waiter<Bool>()
        let (isFinished, consumer) = state.withLock { state -> (Bool, Consumer?) in
            if state.isFinished { return (true, nil) }
            state.event = event
            state.delivery = delivery
            state.holder = nil
            return (false, state.takeConsumer())
        }
        if isFinished { return false }
        consumer?.resume(returning: event)
        await delivery.wait {}
        return delivery.value
    }

    /// Ends the sequence; an event that was not handled stays with the session.
    func finish() {
        let (delivery, waiting) = state.withLock { state in
            defer {
                state.delivery = nil
                state.event = nil
                state.waiting = []
                state.isFinished = true
            }
            return (state.delivery, state.waiting)
        }
        delivery?.resume(returning: false)
        for (_, consumer) in waiting { consumer.resume(returning: nil) }
    }

    /// Ends the sequence when the object is released.
    final class Handle: Sendable {
        let mailbox: EventMailbox
        init(_ mailbox: EventMailbox) { self.mailbox = mailbox }
        deinit { mailbox.finish() }
    }
}

// MARK: Iterators
extension EventMailbox {
    /// An iterator of the sequence, which ends when the object is released.
    final class Reader: Sendable {
        private let handle: Handle
        private let number: UInt64

        init(_ handle: Handle) {
            self.handle = handle
            number = handle.mailbox.addIterator()
        }

        deinit { handle.mailbox.release(number) }

        /// Completes the delivery of the previous event, and waits for the next one; `nil` at the end.
        func next() async -> Event? { await handle.mailbox.next(for: number) }
    }

    private func addIterator() -> UInt64 {
        state.withLock { state in
            state.lastIterator += 1
            state.iterators.insert(state.lastIterator)
            return state.lastIterator
        }
    }

    private func next(for iterator: UInt64) async -> Event? {
        // The consumer may have been cancelled while it handled the event.
        if !Task.isCancelled { state.withLock { $0.takeHandledDelivery(of: iterator) }?.resume(returning: true) }
        if Task.isCancelled {
            if release(iterator) { finish() }
            return nil
        }
        let consumer = Consumer()
        request(for: iterator, resuming: consumer)
        await consumer.wait {
            // The sequence ends with the last of its iterators that is cancelled.
            if release(iterator) { finish() }
        }
        return consumer.value
    }

    private func request(for iterator: UInt64, resuming consumer: Consumer) {
        let (isReady, event) = state.withLock { state -> (Bool, Event?) in
            guard !state.isFinished, state.iterators.contains(iterator) else { return (true, nil) }
            if state.holder == nil, let event = state.event {
                state.holder = iterator
                return (true, event)
            }
            state.waiting.append((iterator, consumer))
            return (false, nil)
        }
        if isReady { consumer.resume(returning: event) }
    }

    /// Ends an iterator, and passes its event to another one that waits; returns whether it was the last iterator.
    @discardableResult
    private func release(_ iterator: UInt64) -> Bool {
        let (ended, consumer, event, isLast) = state.withLock { state in
            state.iterators.remove(iterator)
            let ended = state.removeConsumers(of: iterator)
            if state.holder == iterator { state.holder = nil }
            return (ended, state.takeConsumer(), state.event, state.iterators.isEmpty)
        }
        for consumer in ended { consumer.resume(returning: nil) }
        consumer?.resume(returning: event)
        return isLast
    }
}

extension EventMailbox.State {
    /// Returns the iterator to which the event goes now, and counts it as the holder; `nil` if there is none.
    fileprivate mutating func takeConsumer() -> EventMailbox.Consumer? {
        guard event != nil, holder == nil, !waiting.isEmpty else { return nil }
        let first = waiting.removeFirst()
        holder = first.iterator
        return first.consumer
    }

    fileprivate mutating func takeHandledDelivery(of iterator: UInt64) -> Waiter<Bool>? {
        guard holder == iterator else { return nil }
        defer {
            event = nil
            delivery = nil
            holder = nil
        }
        return delivery
    }

    fileprivate mutating func removeConsumers(of iterator: UInt64) -> [EventMailbox.Consumer] {
        defer { waiting.removeAll { $0.iterator == iterator } }
        return waiting.filter { $0.iterator == iterator }.map(\.consumer)
    }
}
