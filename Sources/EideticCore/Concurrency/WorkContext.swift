import Synchronization

/// What a running piece of work may ask: whether it is still wanted, and how urgent it is.
///
/// The one who wants the work holds the same object and can cancel it or change its priority at any time.
@usableFromInline
package final class JobContext: Sendable {
    private let cancellationFlag = Atomic<Bool>(false)
    private let rawPriority: Atomic<Int>
    private let observers = Guarded(Observers())

    @usableFromInline
    package init(priority: LoadPriority = .normal) {
        rawPriority = Atomic(priority.rawValue)
    }

    /// Whether nobody wants the result any more.
    ///
    /// Long loops ask this every few milliseconds; it costs one load.
    package var isCancelled: Bool { cancellationFlag.load(ordering: .relaxed) }

    /// The priority now, which may change while the work waits and runs.
    @usableFromInline
    package var priority: LoadPriority {
        get { LoadPriority(rawValue: rawPriority.load(ordering: .relaxed)) ?? .normal }
        set {
            guard rawPriority.exchange(newValue.rawValue, ordering: .relaxed) != newValue.rawValue else { return }
            Self.changeCounter.add(1, ordering: .releasing)
            for body in observers.withLock({ $0.callbacks }) { body() }
        }
    }

    /// How often any priority of the process has changed: a queue sorts anew only when this has moved.
    package static var priorityChangeCount: Int { changeCounter.load(ordering: .acquiring) }

    private static let changeCounter = Atomic<Int>(0)

    /// Says that the result is not wanted any more.
    @usableFromInline
    package func cancel() { cancellationFlag.store(true, ordering: .relaxed) }

    /// Throws `EideticError.cancelled` once the work is cancelled.
    package func checkCancellation() throws(EideticError) {
        if isCancelled { throw .cancelled }
    }

    /// Calls `body`, on whatever thread, after each change of priority, until `owner` stops observing.
    @usableFromInline
    package func addPriorityObserver(_ owner: AnyObject, onChange body: @escaping @Sendable () -> Void) {
        let owner = ObjectIdentifier(owner)
        observers.withLock { $0.add(owner, onChange: body) }
    }

    /// Ends what `observePriority` began.
    @usableFromInline
    package func removePriorityObserver(_ owner: AnyObject) {
        let owner = ObjectIdentifier(owner)
        observers.withLock { $0.remove(owner) }
    }
}

/// Who is told of changes: mostly one, for whom no list is made.
private struct Observers {
    private var first: (owner: ObjectIdentifier, body: @Sendable () -> Void)?
    private var others: [(owner: ObjectIdentifier, body: @Sendable () -> Void)] = []

    var callbacks: [@Sendable () -> Void] { (first.map { [$0.body] } ?? []) + others.map(\.body) }

    mutating func add(_ owner: ObjectIdentifier, onChange body: @escaping @Sendable () -> Void) {
        if first == nil { first = (owner, body) } else { others.append((owner, body)) }
    }

    mutating func remove(_ owner: ObjectIdentifier) {
        if first?.owner == owner { first = nil }
        if !others.isEmpty { others.removeAll { $0.owner == owner } }
    }
}
