/// Completions of exchanges that are called together.
///
/// Resuming a task takes longer than all other work for its exchange. So completions are called in batches: when the
/// engine has no other work, or after `maximumDelay`.
struct CompletionQueue {
    /// The longest delay of a completion; much shorter than a frame of the display.
    static let maximumDelay: Duration = .milliseconds(1)

    private var completions: [@Sendable () -> Void] = []
    private var firstAdded: Duration = .zero

    var isEmpty: Bool { completions.isEmpty }

    /// Returns a Boolean value indicating whether the first completion has reached the maximum delay.
    func isDue(at now: Duration) -> Bool { !isEmpty && now - firstAdded >= Self.maximumDelay }

    mutating func add(_ completion: @escaping @Sendable () -> Void, now: Duration) {
        if isEmpty { firstAdded = now }
        completions.append(completion)
    }

    /// Calls and removes all completions.
    mutating func flush() {
        for completion in completions { completion() }
        completions.removeAll(keepingCapacity: true)
    }
}
