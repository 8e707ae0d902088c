import Eidetic
import EideticCore

/// A counter for any thread.
final class Counter: Sendable {
    private let number = Guarded(0)

    var value: Int { number.withLock { $0 } }

    func increment() { next() }

    /// Increments the count; returns the previous one.
    @discardableResult
    func next() -> Int {
        number.withLock { number in
            defer { number += 1 }
            return number
        }
    }
}
