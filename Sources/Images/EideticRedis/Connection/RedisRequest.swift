#if Redis
import EideticCore

/// Commands that are sent to one server in one turn, and the place at which their caller waits.
struct RedisRequest: Sendable {
    typealias Outcome = Result<[RedisReply], EideticError>

    let commands: [RedisCommand]
    /// The uptime at which the request fails.
    let deadline: Duration
    let waiter = Waiter<Outcome>()

    init(_ commands: [RedisCommand], deadline: Duration) { (self.commands, self.deadline) = (commands, deadline) }
}

/// A queue without a copy of the rest at each removal.
struct RequestQueue<Element> {
    private var elements: [Element?] = []
    private var start = 0

    var first: Element? { self[0] }
    var count: Int { elements.count - start }
    var isEmpty: Bool { start == elements.count }

    /// The element after the first `index` ones; `nil` behind the last one.
    subscript(index: Int) -> Element? { index < count ? elements[start + index] : nil }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func removeFirst() -> Element? {
        guard let first else { return nil }
        elements[start] = nil
        start += 1
        if start == elements.count || start >= 1_024 {
            elements.removeFirst(start)
            start = 0
        }
        return first
    }

    mutating func removeAll() -> [Element] {
        defer { self = RequestQueue() }
        return elements.compactMap(\.self)
    }
}
#endif
