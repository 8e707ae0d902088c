import Synchronization

/// What a running piece of work may ask: is it still wanted, and how urgent is it?
///
/// The one who wants the work holds the same object and can cancel it or change its priority at any time.
package final class WorkContext: Sendable {
    private let cancelled = Atomic<Bool>(false)
    private let urgency: Atomic<Int>

    package init(priority: LoadPriority = .normal) {
        urgency = Atomic(priority.rawValue)
    }

    /// Whether nobody wants the result any more. Long loops ask this every few milliseconds.
    package var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    /// The priority now. It may change while the work waits and runs.
    package var priority: LoadPriority {
        get { LoadPriority(rawValue: urgency.load(ordering: .relaxed)) ?? .normal }
        set { urgency.store(newValue.rawValue, ordering: .relaxed) }
    }

    /// Says that the result is not wanted any more.
    package func cancel() { cancelled.store(true, ordering: .relaxed) }

    /// Throws `EideticError.cancelled` once the work is cancelled.
    package func checkCancellation() throws(EideticError) {
        if isCancelled { throw .cancelled }
    }
}
