/// Answers that the engine has, and has not given yet.
///
/// To wake the one who waits takes longer than all else that is done for it, so those of many exchanges are given one
/// right after the other: when the engine has nothing else to do, or when the first of them has waited for `patience`.
struct CompletionQueue {
    /// The longest time that an answer is kept back; far below that of a frame on the screen.
    static let maximumDelay: Duration = .milliseconds(1)

    private var completions: [@Sendable () -> Void] = []
    private var firstAdded: Duration = .zero

    var isEmpty: Bool { completions.isEmpty }

    /// Whether the first one has waited long enough.
    func isDue(at now: Duration) -> Bool { !isEmpty && now - firstAdded >= Self.maximumDelay }

    /// Takes what gives an answer.
    mutating func add(_ completion: @escaping @Sendable () -> Void, now: Duration) {
        if isEmpty { firstAdded = now }
        completions.append(completion)
    }

    /// Gives all answers.
    mutating func flush() {
        for completion in completions { completion() }
        completions.removeAll(keepingCapacity: true)
    }
}
