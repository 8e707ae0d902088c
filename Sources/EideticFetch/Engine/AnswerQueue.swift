/// Answers that the engine has, and has not given yet.
///
/// To wake the one who waits takes longer than all else that is done for it, so those of many exchanges are given one
/// right after the other: when the engine has nothing else to do, or when the first of them has waited for `patience`.
struct AnswerQueue {
    /// The longest time that an answer is kept back; far below that of a frame on the screen.
    static let patience: Duration = .milliseconds(1)

    private var answers: [@Sendable () -> Void] = []
    private var since: Duration = .zero

    var isEmpty: Bool { answers.isEmpty }

    /// Whether the first one has waited long enough.
    func isDue(_ now: Duration) -> Bool { !isEmpty && now - since >= Self.patience }

    /// Takes what gives an answer.
    mutating func add(_ answer: @escaping @Sendable () -> Void, now: Duration) {
        if isEmpty { since = now }
        answers.append(answer)
    }

    /// Gives all answers.
    mutating func give() {
        for answer in answers { answer() }
        answers.removeAll(keepingCapacity: true)
    }
}
