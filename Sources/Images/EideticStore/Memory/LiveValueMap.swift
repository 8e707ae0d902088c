public import EideticCore
internal import Synchronization

/// The values that were evicted from a memory cache and are still in use elsewhere.
///
/// They do not count towards the limits of the cache.
@usableFromInline
final class LiveValueMap<Value: Sendable>: Sendable {
    /// A value that the cache does not store any more.
    struct Entry: Sendable {
        let record: MemoryLedger.Record
        let reference: LiveValueTracking<Value>.WeakReference
    }

    private struct State: Sendable {
        var entries: [CacheKey: Entry] = [:]
        /// The number of entries at which those of released values are removed.
        var sweepThreshold = 64
    }

    private let tracking: LiveValueTracking<Value>
    private let state = Guarded(State())
    private let count = Atomic(0)
    private let revivals = Atomic(0)

    init(_ tracking: LiveValueTracking<Value>) { self.tracking = tracking }

    /// A Boolean value indicating whether no value is tracked.
    @usableFromInline var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    /// The number of values that returned to the cache so far.
    @usableFromInline var revivalCount: Int { revivals.load(ordering: .acquiring) }

    /// Stops tracking a value that is in the cache's table again.
    func markRevived(_ key: CacheKey) {
        revivals.add(1, ordering: .releasing)
        remove(key)
    }

    /// Tracks an evicted value.
    ///
    /// - Returns: Values that were referenced during a sweep; the caller releases them after all locks.
    func insert(_ value: Value, record: MemoryLedger.Record) -> [Value] {
        let entry = Entry(record: record, reference: tracking.makeWeakReference(value))
        return state.withLock { state in
            state.entries[record.key] = entry
            let values = state.entries.count >= state.sweepThreshold ? Self.removeReleasedEntries(from: &state) : []
            count.store(state.entries.count, ordering: .releasing)
            return values
        }
    }

    /// Returns the tracked value of `key`.
    func entry(for key: CacheKey) -> Entry? { state.withLock { $0.entries[key] } }

    /// Stops tracking the value of `key`.
    @usableFromInline
    func remove(_ key: CacheKey) {
        guard !isEmpty else { return }
        state.withLock { state in
            state.entries[key] = nil
            count.store(state.entries.count, ordering: .releasing)
        }
    }

    /// Stops tracking all values.
    func removeAll() {
        state.withLock { state in
            state.entries = [:]
            count.store(0, ordering: .releasing)
        }
    }

    /// Removes the entries of released values.
    ///
    /// The next sweep happens when the map has doubled, so the cost for each insertion is constant.
    private static func removeReleasedEntries(from state: inout State) -> [Value] {
        var values: [Value] = []
        state.entries = state.entries.filter { _, entry in
            guard let value = entry.reference() else { return false }
            values.append(value)
            return true
        }
        state.sweepThreshold = max(64, state.entries.count * 2)
        return values
    }
}
