import Synchronization

/// A meter of allocated pixel memory, which notifies an observer each time a set amount was allocated.
///
/// Released memory is not subtracted: the observer reads the memory of the system, and sets the next amount.
package final class AllocationMeter: Sendable {
    package static let shared = AllocationMeter()

    private let remaining = Atomic<Int>(.max)
    private let observer = Guarded<(@Sendable () -> Void)?>(nil)

    /// Creates a meter that notifies nobody.
    package init() {}

    /// Notifies the observer, once, after another `byteCount` bytes were allocated; replaces an earlier call.
    ///
    /// The observer is called on an allocating thread, without a lock, and must return at once.
    package func notify(after byteCount: Int, observer: @escaping @Sendable () -> Void) {
        let old = self.observer.withLock { current in
            defer { current = observer }
            return current
        }
        _ = consume old
        remaining.store(max(1, byteCount), ordering: .relaxed)
    }

    /// Records an allocation: one atomic subtraction.
    package func record(byteCount: Int) {
        let change = remaining.wrappingSubtract(byteCount, ordering: .relaxed)
        guard change.oldValue > 0, change.newValue <= 0 else { return }
        observer.withLock { $0 }?()
    }
}
