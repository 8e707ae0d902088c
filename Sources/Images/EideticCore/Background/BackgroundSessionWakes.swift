/// The wakes for background sessions, until the events of the session are handled.
///
/// The application that was woken holds a completion here unless it calls it itself; the session completes it after its
/// last event, and is told of each wake, as there may be no event left. It stands between two modules that do not know
/// each other.
package final class BackgroundSessionWakes: Sendable {
    package static let shared = BackgroundSessionWakes()

    private struct Wake {
        let number: UInt64
        let completion: (@Sendable () -> Void)?
    }

    private struct State {
        var lastNumber: UInt64 = 0
        var wakes: [String: [Wake]] = [:]
        var observers: [String: [UInt64: @Sendable () -> Void]] = [:]

        mutating func nextNumber() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }

        mutating func remove(_ identifier: String, where condition: (Wake) -> Bool) -> [Wake] {
            let wakes = wakes.removeValue(forKey: identifier) ?? []
            let others = wakes.filter { !condition($0) }
            if !others.isEmpty { self.wakes[identifier] = others }
            return wakes.filter(condition)
        }
    }

    private let state = Guarded(State())

    package init() {}

    /// Records a wake, tells the session of it, and returns its number for ``end(_:of:)``.
    package func begin(_ identifier: String) -> UInt64 { add(nil, for: identifier) }

    /// Keeps a completion until the events of a session are handled.
    package func hold(_ completion: @escaping @Sendable () -> Void, for identifier: String) {
        _ = add(completion, for: identifier)
    }

    private func add(_ completion: (@Sendable () -> Void)?, for identifier: String) -> UInt64 {
        let (number, observers) = state.withLock { state in
            let number = state.nextNumber()
            state.wakes[identifier, default: []].append(Wake(number: number, completion: completion))
            return (number, state.observers[identifier].map { Array($0.values) } ?? [])
        }
        for observer in observers { observer() }
        return number
    }

    /// A Boolean value indicating whether a wake of the session is not completed.
    package func isHolding(_ identifier: String) -> Bool { last(of: identifier) != nil }

    /// Returns the number of the session's last wake that is not completed; `nil` if there is none.
    package func last(of identifier: String) -> UInt64? { state.withLock { $0.wakes[identifier]?.last?.number } }

    /// Ends the wakes of a session up to a number, by default all, and calls their completions, each once.
    package func complete(_ identifier: String, through number: UInt64 = .max) {
        let ended = state.withLock { $0.remove(identifier) { $0.number <= number } }
        for wake in ended { wake.completion?() }
    }

    /// Ends a wake that the application has completed, or that has expired.
    package func end(_ number: UInt64, of identifier: String) {
        _ = state.withLock { state in state.remove(identifier) { $0.number == number } }
    }

    /// Calls a function at each wake of a session; returns a number for ``removeObserver(_:of:)``.
    package func addObserver(of identifier: String, calling observer: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { state in
            let number = state.nextNumber()
            state.observers[identifier, default: [:]][number] = observer
            return number
        }
    }

    package func removeObserver(_ number: UInt64, of identifier: String) {
        let observer = state.withLock { state in
            let observer = state.observers[identifier]?.removeValue(forKey: number)
            if state.observers[identifier]?.isEmpty ?? false { state.observers[identifier] = nil }
            return observer
        }
        withExtendedLifetime(observer) {}
    }
}
