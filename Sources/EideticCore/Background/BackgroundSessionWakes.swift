/// The completions of wakes for background sessions, until the events of the session are handled.
///
/// The application that was woken holds a completion here unless it calls it itself; the session completes it after its
/// last event. It stands between two modules that do not know each other.
package final class BackgroundSessionWakes: Sendable {
    /// The completions of this process.
    package static let shared = BackgroundSessionWakes()

    private let completions = Guarded<[String: [@Sendable () -> Void]]>([:])

    package init() {}

    /// Keeps a completion until the events of a session are handled.
    package func hold(_ completion: @escaping @Sendable () -> Void, for identifier: String) {
        completions.withLock { $0[identifier, default: []].append(completion) }
    }

    /// A Boolean value indicating whether a wake of the session is not completed.
    package func isHolding(_ identifier: String) -> Bool { completions.withLock { $0[identifier] != nil } }

    /// Calls the completions of a session, each once.
    package func complete(_ identifier: String) {
        let held = completions.withLock { $0.removeValue(forKey: identifier) }
        for completion in held ?? [] { completion() }
    }
}
