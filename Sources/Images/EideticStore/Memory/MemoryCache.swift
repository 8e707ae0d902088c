public import EideticCore
internal import Glibc
public import Synchronization

/// A cache of values in memory, with exact limits on their bytes and their number.
///
/// A look-up is synchronous and takes tens of nanoseconds: it takes a lock that only look-ups on the same processor
/// share, finds the key in a few steps and counts the hit. It allocates nothing. Writers share one lock, which also
/// guards the limits and the eviction policy, so the limits hold at every instant.
///
/// Values are released, and hooks are called, after all locks were released.
public final class MemoryCache<Value: Sendable>: Sendable {
    // Safe to share: the pointer never changes, and the table's own rules guard its content.
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
    ///   - costLimit: The largest total cost of all values, in bytes.
    ///   - countLimit: The largest number of values; no limit by default.
    ///   - hooks: The functions that are called when values are inserted and removed.
    public convenience init(
        costLimit: ByteCount,
        countLimit: Int = .max,
        hooks: MemoryHooks<Value> = MemoryHooks()
    ) {
        self.init(costLimit: costLimit, countLimit: countLimit, tracking: nil, hooks: hooks)
    }

    /// Creates an empty cache that finds evicted values again, or has another clock.
    package convenience init(
        costLimit: ByteCount,
        countLimit: Int = .max,
        tracking: LiveValueTracking<Value>?,
        hooks: MemoryHooks<Value> = MemoryHooks(),
        time: any TimeSource = SystemTime()
    ) {
        self.init(
            policy: GreedyDual.mostBytes,
            costLimit: costLimit,
            countLimit: countLimit,
            tracking: tracking,
            hooks: hooks,
            time: time
        )
    }

    /// Creates an empty cache with an eviction policy of the caller's own.
    package init(
        policy: any EvictionPolicy,
        costLimit: ByteCount,
        countLimit: Int = .max,
        tracking: LiveValueTracking<Value>? = nil,
        hooks: MemoryHooks<Value> = MemoryHooks(),
        time: any TimeSource = SystemTime()
    ) {
        ledger = Guarded(
            MemoryLedger(policy: policy, costLimit: max(0, costLimit.bytes), countLimit: max(0, countLimit))
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

    /// Returns the value of `key`, if there is one that has not expired.
    ///
    /// - Complexity: O(1); no allocation.
    @inlinable
    package func value(for key: CacheKey) -> Value? {
        let clock = policyClock.load(ordering: .relaxed)
        let never = Timestamp(nanoseconds: .max)
        let (value, expirationTime) = stripes.current.pointee.withLock { counters -> (Value?, Timestamp) in
            guard let entry = table.pointee.entry(for: key) else {
                counters.misses &+= 1
                return (nil, never)
            }
            counters.hits &+= 1
            entry.pointee.recordHit(clock: clock)
            return (entry.pointee.value, entry.pointee.expirationTime)
        }
        if value == nil, let liveValues { return liveValues.isEmpty ? retryLookup(key, in: liveValues) : revive(key) }
        return expirationTime == never ? value : unexpired(value, for: key, until: expirationTime)
    }

    /// The time of an insertion.
    ///
    /// The coarse clock is exact to some milliseconds, which is enough here, and is four times as fast.
    @usableFromInline
    var insertionTime: Timestamp {
        guard isSystemTime else { return time.now }
        var now = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &now)
        return Timestamp(nanoseconds: Int64(now.tv_sec) &* 1_000_000_000 &+ Int64(now.tv_nsec))
    }

    /// The value of `key`, or `nil` if there is none or it has expired.
    public subscript(_ key: CacheKey) -> Value? { value(for: key) }
}
