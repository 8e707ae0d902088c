public import EideticCore
internal import Glibc

/// A lock with one stripe for each processor, for data that is read much more often than changed.
///
/// A reader locks the stripe of its processor, so readers on two processors neither wait for each other nor write to
/// one cache line. A writer locks all stripes. Each stripe counts the hits and misses of its readers.
@usableFromInline
struct MemoryStripes: ~Copyable, Sendable {
    /// The look-ups by the readers of one stripe.
    @usableFromInline
    struct Counters: Sendable {
        @usableFromInline var hits = 0
        @usableFromInline var misses = 0
    }

    @usableFromInline typealias Stripe = Guarded<Counters>

    // Safe to share: neither changes after `init`, and the pointer's memory holds locks only.
    @usableFromInline nonisolated(unsafe) let stripes: UnsafeMutablePointer<Stripe>
    @usableFromInline let count: Int

    @usableFromInline
    init() {
        let processors = min(64, max(1, sysconf(Int32(_SC_NPROCESSORS_CONF))))
        var count = 1
        while count < processors { count *= 2 }
        self.count = count
        stripes = .allocate(capacity: count)
        // Two cache lines for each, since processors fetch them in pairs.
        for number in 0..<count { (stripes + number).initialize(to: Stripe(Counters(), alignment: 128)) }
    }

    deinit {
        stripes.deinitialize(count: count)
        stripes.deallocate()
    }

    /// The stripe of the processor on which the calling thread runs, or ran a moment ago.
    @inlinable
    @inline(__always)
    var current: UnsafeMutablePointer<Stripe> { stripes + (Processor.currentIndex & (count &- 1)) }

    /// Runs `body` with all stripes locked.
    @usableFromInline
    func withAllLocked(_ body: () -> Void) { lock(from: 0, body: body) }

    private func lock(from number: Int, body: () -> Void) {
        guard number < count else { return body() }
        stripes[number].withLock { _ in lock(from: number + 1, body: body) }
    }

    /// The look-ups of all readers.
    var total: Counters {
        var total = Counters()
        for number in 0..<count {
            let counters = stripes[number].withLock { $0 }
            total.hits += counters.hits
            total.misses += counters.misses
        }
        return total
    }
}
