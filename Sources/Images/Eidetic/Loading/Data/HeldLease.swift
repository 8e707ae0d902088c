import EideticCore
import EideticStore

/// A lease that this process holds: renewed until it is ended, or the last load that needs it is gone.
final class HeldLease: Sendable {
    private let lease: SharedLease
    private let key: String
    private let tier: any SharedTier
    private let renewal: Task<Void, Never>
    private let isEnded = Guarded(false)

    init(_ lease: SharedLease, key: String, tier: any SharedTier) {
        self.lease = lease
        self.key = key
        self.tier = tier
        renewal = Task.detached {
            while (try? await Task.sleep(for: max(lease.duration / 3, .milliseconds(1)))) != nil {
                try? await tier.update(lease, of: key, to: .renewed)
            }
        }
    }

    deinit { end(with: .released) }

    /// Ends the lease, once; returns at once, with the task that does it.
    @discardableResult
    func end(with change: SharedLease.Change) -> Task<Void, Never>? {
        let isFirst = isEnded.withLock { isEnded in
            defer { isEnded = true }
            return !isEnded
        }
        guard isFirst else { return nil }
        renewal.cancel()
        return Task.detached { [lease, key, tier, renewal] in
            // A renewal that is on its way has no effect after the end.
            await renewal.value
            try? await tier.update(lease, of: key, to: change)
        }
    }
}

/// The delays between two searches of a load that waits for another machine.
struct SharedBackOff {
    private static let longest: Duration = .milliseconds(100)
    private var delay: Duration = .milliseconds(4)

    /// Returns the next delay: up to twice as long as the one before, and at random, so that machines do not search in
    /// step.
    mutating func next() -> Duration {
        defer { delay = min(delay * 2, Self.longest) }
        return delay * Double.random(in: 0.5...1)
    }
}
