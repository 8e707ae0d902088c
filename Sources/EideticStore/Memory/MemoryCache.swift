public import EideticCore
internal import Glibc
public import Synchronization

/// Keeps values in memory, within exact limits on bytes and number.
///
/// A look-up is synchronous and takes tens of nanoseconds: it takes a lock that only look-ups on the same processor
/// take, finds the key in a few steps, and counts the hit; it allocates nothing and moves nothing. Writers share one
/// lock, behind which stand the bytes, the limits and the eviction policy; so the limits hold at every instant.
///
/// No value is ever released, and nobody is called, with a lock held.
public final class MemoryCache<Value: Sendable>: Sendable {
    // Safe to share: the pointer never changes; who may do what with the table is said there.
    @usableFromInline nonisolated(unsafe) let table: UnsafeMutablePointer<MemoryTable<Value>>
    @usableFromInline let stripes = MemoryStripes()
    @usableFromInline let ledger: Guarded<MemoryLedger>
    @usableFromInline let time: any TimeSource
    private let isSystemTime: Bool
    @usableFromInline let policyClock: Atomic<UInt64>
    @usableFromInline let liveValues: LiveValueMap<Value>?
    @usableFromInline let hooks: MemoryHooks<Value>

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - costLimit: The most bytes that all values may cost together; ``MemoryLimits/standard`` is a good one.
    ///   - countLimit: The most values; no limit by default.
    ///   - eviction: Which value goes first when there is no room.
    ///   - tracking: How values that went are found again while somebody else holds them; not at all by default.
    ///   - hooks: Who is told of what comes and goes.
    ///   - time: Where entries with a time to live get the time from.
    public init(
        costLimit: ByteCount,
        countLimit: Int = .max,
        eviction: EvictionRule = .mostBytes,
        tracking: LiveValueTracking<Value>? = nil,
        hooks: MemoryHooks<Value> = MemoryHooks(),
        time: any TimeSource = SystemTime()
    ) {
        let bytes = max(0, costLimit.bytes)
        ledger = Guarded(
            MemoryLedger(policy: eviction.makePolicy(capacity: bytes), costLimit: bytes, countLimit: max(0, countLimit))
        )
        self.time = time
        isSystemTime = time is SystemTime
        policyClock = Atomic(0)
        liveValues = tracking.map { LiveValueMap($0) }
        self.hooks = hooks
        table = .allocate(capacity: 1)
        table.initialize(to: MemoryTable())
    }

    deinit {
        table.deinitialize(count: 1)
        table.deallocate()
    }

    /// The value of `key`, if it is there and has not expired.
    ///
    /// - Complexity: O(1); no allocation.
    @inlinable
    public func value(for key: CacheKey) -> Value? {
        let clock = policyClock.load(ordering: .relaxed)
        let (value, canExpire) = stripes.current.pointee.withLock { counters -> (Value?, Bool) in
            guard let entry = table.pointee.entry(for: key) else {
                counters.misses &+= 1
                return (nil, false)
            }
            counters.hits &+= 1
            entry.pointee.recordHit(clock: clock)
            return (entry.pointee.value, entry.pointee.canExpire)
        }
        if value == nil, let liveValues { return liveValues.isEmpty ? retryLookup(key, in: liveValues) : revive(key) }
        return canExpire ? unexpired(value, for: key) : value
    }

    /// The time of day to some milliseconds, which is enough to say when something was put in and takes a quarter of the
    /// time.
    @usableFromInline
    var insertionTime: Timestamp {
        guard isSystemTime else { return time.now }
        var now = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &now)
        return Timestamp(nanoseconds: Int64(now.tv_sec) &* 1_000_000_000 &+ Int64(now.tv_nsec))
    }

    /// The value of `key`, if it is there and has not expired.
    public subscript(_ key: CacheKey) -> Value? { value(for: key) }
}
