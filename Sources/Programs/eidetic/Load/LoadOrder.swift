import EideticFetch

/// The order in which the items of a list start: that of the list, but with a limit for each origin.
///
/// So an origin that does not respond leaves slots for others, also for those of the same host.
struct LoadOrder: Sendable {
    /// An item that runs.
    struct Item {
        let position: Int
        fileprivate let origin: Origin?
    }

    private struct State {
        var runningCount = 0
        /// The items that wait because the origin has reached its limit, and the number of those that have started.
        var waiting: [Int] = []
        var startedCount = 0

        var hasWaiting: Bool { startedCount < waiting.count }

        /// Counts an item as running, unless it has to wait.
        mutating func mayStart(_ position: Int, limit: Int) -> Bool {
            guard runningCount < limit else {
                waiting.append(position)
                return false
            }
            runningCount += 1
            return true
        }
    }

    private let count: Int
    private let limit: Int
    private let origin: @Sendable (Int) -> Origin?
    private var position = 0
    private var states: [Origin: State] = [:]
    /// The origins with waiting items that have fallen below their limit.
    private var unblocked: [Origin] = []

    /// Creates a queue.
    ///
    /// - Parameters:
    ///   - count: The number of items.
    ///   - limit: The largest number of items of one origin that run at the same time.
    ///   - origin: Returns the origin of an item; `nil` for an item that is on no server, which is not limited.
    init(count: Int, limit: Int, origin: @escaping @Sendable (Int) -> Origin?) {
        self.count = count
        self.limit = max(1, limit)
        self.origin = origin
    }

    /// Removes and returns the next item, which runs from now on; `nil` if none may start.
    ///
    /// - Complexity: O(1) on average over all items.
    mutating func next() -> Item? {
        while let origin = unblocked.popLast() {
            if let item = startWaitingItem(of: origin) { return item }
        }
        while position < count {
            defer { position += 1 }
            guard let origin = origin(position) else { return Item(position: position, origin: nil) }
            if states[origin, default: State()].mayStart(position, limit: limit) {
                return Item(position: position, origin: origin)
            }
        }
        return nil
    }

    mutating func finish(_ item: Item) {
        guard let origin = item.origin, var state = states[origin] else { return }
        state.runningCount -= 1
        if state.hasWaiting { unblocked.append(origin) }
        states[origin] = state.runningCount == 0 && !state.hasWaiting ? nil : state
    }

    private mutating func startWaitingItem(of origin: Origin) -> Item? {
        guard var state = states[origin], state.hasWaiting, state.runningCount < limit else { return nil }
        state.runningCount += 1
        state.startedCount += 1
        states[origin] = state
        return Item(position: state.waiting[state.startedCount - 1], origin: origin)
    }
}
