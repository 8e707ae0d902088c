import EideticCore

/// Holds low-priority work back while the user scrolls or drags (L22).
final class InteractionGate: Sendable {
    private final class Place: Sendable {
        let context: JobContext
        private let continuation = Guarded<CheckedContinuation<Void, Never>?>(nil)

        init(_ context: JobContext) { self.context = context }

        func wait(_ waiting: CheckedContinuation<Void, Never>) { continuation.withLock { $0 = waiting } }

        func goOn() {
            let waiting = continuation.withLock { continuation in
                defer { continuation = nil }
                return continuation
            }
            waiting?.resume()
        }
    }

    private let state = Guarded((isClosed: false, waiting: [ObjectIdentifier: Place]()))

    /// Whether the user scrolls or drags now.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Closes or opens the gate; false where it was so before.
    func setClosed(_ isClosed: Bool) -> Bool {
        let isChanged = state.withLock { state in
            defer { state.isClosed = isClosed }
            return state.isClosed != isClosed
        }
        letThrough()
        return isChanged
    }

    /// Waits while the gate is closed and the work has low priority; throws `cancelled` where the task is.
    func pass(_ context: JobContext) async throws(EideticError) {
        guard isHeld(context) else { return }
        let place = Place(context)
        context.addPriorityObserver(place) { [weak self] in self?.letThrough() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                place.wait(continuation)
                state.withLock { $0.waiting[ObjectIdentifier(place)] = place }
                letThrough()
                if Task.isCancelled { leave(place) }
            }
        } onCancel: {
            leave(place)
        }
        context.removePriorityObserver(place)
        if Task.isCancelled { throw .cancelled }
    }

    private func isHeld(_ context: JobContext) -> Bool { isClosed && context.priority == .low }

    private func letThrough() {
        let free = state.withLock { state in
            let free = state.waiting.filter { !state.isClosed || $0.value.context.priority > .low }
            for key in free.keys { state.waiting[key] = nil }
            return Array(free.values)
        }
        for place in free { place.goOn() }
    }

    private func leave(_ place: Place) {
        _ = state.withLock { $0.waiting.removeValue(forKey: ObjectIdentifier(place)) }
        place.goOn()
    }
}
