import EideticCore
import EideticStore

/// The shared tier of a pipeline, with the background task that covers what is stored in it.
struct SharedStage: Sendable {
    /// The longest time for which a load waits until another machine has stored an image; then it loads it itself.
    static let waitLimit: Duration = .seconds(30)
    /// The time for which machines need no lease for an image that cannot be shared.
    static let unsharedInterval: Duration = .seconds(60)
    /// The time for which machines need no lease for an image whose load has failed.
    static let failureInterval: Duration = .seconds(1)

    let tier: any SharedTier
    let work: BackgroundWorkGroup

    init?(_ configuration: ImagePipeline.Configuration) {
        guard let tier = configuration.sharedTier else { return nil }
        self.tier = tier
        work = BackgroundWorkGroup(named: "eidetic shared tier", provider: configuration.environment)
    }

    /// Searches a value, and tries to acquire a lease; it is released after a cancellation or another error, because
    /// the server may have granted it all the same.
    func lookUp(
        _ key: String,
        leasing lease: SharedLease?
    ) async throws(EideticError) -> (SharedLookup, HeldLease?) {
        do throws(EideticError) {
            let found = try await tier.lookUp(key, leasing: lease)
            return (found, found.lease == .granted ? lease.map { HeldLease($0, key: key, tier: tier) } : nil)
        } catch {
            if let lease { HeldLease(lease, key: key, tier: tier).end(with: .released) }
            throw error
        }
    }

    /// Removes a value that proved to be unusable; a failure is logged.
    func remove(_ key: String, ifEqualTo value: [UInt8]?) async {
        do throws(EideticError) { try await tier.remove(key, ifEqualTo: value) } catch {
            Log.write(.debug, category: .store, message: "shared entry not removed: \(error)")
        }
    }
}

/// A lease that this process holds: renewed until it is ended, or the last load that needs it is gone.
final class HeldLease: Sendable {
    private let lease: SharedLease
    private let key: String
    private let tier: any SharedTier
    private let renewal: Task<Void, Never>
    private let isEnded = Guarded(false)

    init(_ lease: SharedLease, key: String, tier: any SharedTier) {
        (self.lease, self.key, self.tier) = (lease, key, tier)
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
