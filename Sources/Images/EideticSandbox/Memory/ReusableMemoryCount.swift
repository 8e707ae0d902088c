import EideticCore

/// The number of memories that keep a descriptor as long as an image uses them.
///
/// The descriptors of a process are few, and an application can keep many images; those beyond the limit are in memory
/// that is sealed, and whose descriptor is closed.
final class ReusableMemoryCount: Sendable {
    /// One of the memories, counted until it is released.
    final class Place: Sendable {
        private let owner: ReusableMemoryCount

        fileprivate init(of owner: ReusableMemoryCount) { self.owner = owner }

        deinit { owner.count.withLock { $0 -= 1 } }
    }

    private let limit: Int
    private let count = Guarded(0)

    init(limit: Int) { self.limit = limit }

    /// Returns a place; `nil` if there is none.
    func place() -> Place? {
        let isAllowed = count.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
        return isAllowed ? Place(of: self) : nil
    }
}
