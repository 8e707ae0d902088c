import Synchronization

/// The cancellation flag and the priority of a job, shared by the job and its owner.
///
/// The owner can cancel the job or change its priority at any time.
@usableFromInline
package final class JobContext: Sendable {
    private let cancellationFlag = Atomic<Bool>(false)
    private let rawPriority: Atomic<Int>
    private let waitingNanoseconds = Atomic<Int64>(0)
    private let detachedNanoseconds = Atomic<Int64>(0)
    private let observers = Guarded(Observers())

    @usableFromInline
    package init(priority: LoadPriority = .normal) {
        rawPriority = Atomic(priority.rank)
    }

    /// A Boolean value indicating whether the job was cancelled.
    ///
    /// Long loops check it every few milliseconds; the check is a single load.
    package var isCancelled: Bool { cancellationFlag.load(ordering: .relaxed) }

    /// The current priority, which may change while the job waits and runs.
    @usableFromInline
    package var priority: LoadPriority {
        get { LoadPriority(rank: rawPriority.load(ordering: .relaxed)) }
        set {
            guard rawPriority.exchange(newValue.rank, ordering: .relaxed) != newValue.rank else { return }
            Self.changeCounter.add(1, ordering: .releasing)
            for callback in observers.withLock({ $0.callbacks }) { callback() }
        }
    }

    /// The number of priority changes in this process; a queue is sorted again only if this number has changed.
    package static var priorityChangeCount: Int { changeCounter.load(ordering: .acquiring) }

    private static let changeCounter = Atomic<Int>(0)

    /// The time for which the job has waited for threads, for memory and in the queue of downloads.
    package var waitingTime: Duration { .nanoseconds(waitingNanoseconds.load(ordering: .relaxed)) }

    package func addWaitingTime(_ duration: Duration) {
        waitingNanoseconds.add(duration.inNanoseconds, ordering: .relaxed)
    }

    /// The processor time that libraries on threads of their own have used for the job.
    package var detachedTime: Duration { .nanoseconds(detachedNanoseconds.load(ordering: .relaxed)) }

    /// Adds to the processor time that libraries on threads of their own have used.
    package func addDetachedTime(_ duration: Duration) {
        detachedNanoseconds.add(duration.inNanoseconds, ordering: .relaxed)
    }

    @usableFromInline
    package func cancel() { cancellationFlag.store(true, ordering: .relaxed) }

    /// Throws `EideticError.cancelled` if the job is cancelled.
    package func checkCancellation() throws(EideticError) {
        if isCancelled { throw .cancelled }
    }

    /// Calls `onChange` after each change of priority, on the thread that made it, until `owner` is removed.
    @usableFromInline
    package func addPriorityObserver(_ owner: AnyObject, onChange: @escaping @Sendable () -> Void) {
        let owner = ObjectIdentifier(owner)
        observers.withLock { $0.add(owner, onChange: onChange) }
    }

    /// Removes the observer that `owner` added.
    @usableFromInline
    package func removePriorityObserver(_ owner: AnyObject) {
        let owner = ObjectIdentifier(owner)
        observers.withLock { $0.remove(owner) }
    }
}

/// The observers of a context; the common case of a single observer needs no array.
private struct Observers {
    private var first: (owner: ObjectIdentifier, onChange: @Sendable () -> Void)?
    private var others: [(owner: ObjectIdentifier, onChange: @Sendable () -> Void)] = []

    var callbacks: [@Sendable () -> Void] { (first.map { [$0.onChange] } ?? []) + others.map(\.onChange) }

    mutating func add(_ owner: ObjectIdentifier, onChange: @escaping @Sendable () -> Void) {
        if first == nil { first = (owner, onChange) } else { others.append((owner, onChange)) }
    }

    mutating func remove(_ owner: ObjectIdentifier) {
        if first?.owner == owner { first = nil }
        if !others.isEmpty { others.removeAll { $0.owner == owner } }
    }
}

/// The urgency of a load.
public enum LoadPriority: Sendable, Comparable, CaseIterable {
    /// Prefetches, and loads that may wait while the user scrolls.
    case low
    /// The default.
    case normal
    /// Loads at the head of the queue.
    case high

    /// The position of the priority, from 0.
    package var rank: Int {
        switch self {
        case .low: 0
        case .normal: 1
        case .high: 2
        }
    }

    fileprivate init(rank: Int) { self = rank <= 0 ? .low : rank == 1 ? .normal : .high }
}
