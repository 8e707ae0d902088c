import EideticCore

/// The functions that wait until the changes before them are safe in the journal, one attempt to write it after the
/// other.
struct CommitQueue {
    /// A function that is called when the changes before it are safe, or with the error for which they are not.
    typealias Handler = (EideticError?) -> Void

    private struct Waiting {
        var commits: [Handler] = []
        var attempts: [() -> Void] = []
    }

    /// The pause after an attempt that has failed.
    static let pause: Duration = .seconds(1)

    private var next = Waiting()
    private var current = Waiting()
    /// A Boolean value indicating whether the journal is being synchronised.
    private(set) var isUnderWay = false
    private var notBefore: Duration = .zero
    /// The time of the next attempt, after a failure.
    private(set) var deadline: Duration?

    /// Calls a function after the changes so far are safe.
    mutating func afterCommit(_ body: @escaping Handler) { next.commits.append(body) }

    /// Calls a function after the changes so far are safe, or could not be written for now.
    mutating func afterAttempt(_ body: @escaping () -> Void) { next.attempts.append(body) }

    /// Returns whether a change waits for the journal, which can be written.
    func hasUnsafeChanges(at now: Duration) -> Bool {
        (isUnderWay || !next.commits.isEmpty) && now >= notBefore
    }

    /// A Boolean value indicating whether somebody waits for the changes to be safe.
    var isAwaited: Bool { !current.commits.isEmpty || !next.commits.isEmpty }

    /// Begins an attempt for all that waits; returns `false` if there is nothing to write, or one is under way.
    mutating func begin(hasEvents: Bool, at now: Duration) -> Bool {
        if let time = deadline, time <= now { deadline = nil }
        guard !isUnderWay, !next.commits.isEmpty || !next.attempts.isEmpty || hasEvents, now >= notBefore else {
            return false
        }
        current = next
        next = Waiting()
        isUnderWay = true
        return true
    }

    /// Ends the attempt; returns the functions to call, in their order.
    mutating func complete() -> [() -> Void] {
        isUnderWay = false
        defer { current = Waiting() }
        return current.commits.map { body in { body(nil) } } + current.attempts
    }

    /// Keeps what waits for a journal that cannot be written, for another attempt after a pause; returns the functions
    /// that wait for the attempt only.
    mutating func fail(at now: Duration) -> [() -> Void] {
        isUnderWay = false
        next.commits = current.commits + next.commits
        notBefore = now + Self.pause
        deadline = notBefore
        defer { current = Waiting() }
        return current.attempts
    }

    /// Ends all waiting, with the error for which the changes may not be safe; returns the functions to call.
    mutating func end(with error: EideticError?) -> [() -> Void] {
        let commits = current.commits + next.commits
        let attempts = current.attempts + next.attempts
        current = Waiting()
        next = Waiting()
        return commits.map { body in { body(error) } } + attempts
    }
}
