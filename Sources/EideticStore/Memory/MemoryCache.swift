public import EideticCore
public import Synchronization

/// Keeps values in memory, within exact limits on bytes and number.
///
/// A look-up is synchronous and takes tens of nanoseconds: it locks one of 64 shards, finds the key in a few steps,
/// and counts the hit; it allocates nothing and moves nothing. Writers share one more lock, behind which stand the
/// bytes, the limits and the eviction policy; so the limits hold at every instant, over all shards.
///
/// No value is ever released, and nobody is called, with a lock held.
public final class MemoryCache<Value: Sendable>: Sendable {
    /// Told of a value that went and why, after it went, with no lock held.
    public typealias RemovalHandler = @Sendable (CacheKey, Value, MemoryRemovalReason) -> Void

    // Safe to share: the pointer never changes, and what it points to are locks.
    @usableFromInline nonisolated(unsafe) let shards: UnsafeMutableRawPointer
    let ledger: Guarded<MemoryLedger>
    let time: any TimeSource
    @usableFromInline let policyClock: Atomic<UInt64>

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - costLimit: The most bytes that all values may cost together; ``MemoryLimits/standard`` is a good one.
    ///   - countLimit: The most values; no limit by default.
    ///   - eviction: Which value goes first when there is no room.
    ///   - time: Where entries with a time to live get the time from.
    public init(
        costLimit: ByteCount,
        countLimit: Int = .max,
        eviction: EvictionRule = .memory,
        time: any TimeSource = SystemTime()
    ) {
        let bytes = max(0, costLimit.bytes)
        ledger = Guarded(
            MemoryLedger(policy: eviction.policy(capacity: bytes), costLimit: bytes, countLimit: max(0, countLimit))
        )
        self.time = time
        policyClock = Atomic(0)
        shards = Shards<Value>.allocate()
    }

    deinit { Shards<Value>.deallocate(shards) }

    /// The value of `key`, if it is there and has not expired.
    ///
    /// - Complexity: O(1); no allocation.
    @inlinable
    public func value(for key: CacheKey) -> Value? {
        let clock = policyClock.load(ordering: .relaxed)
        let (value, canExpire) = shard(of: key).pointee.withLock { table -> (Value?, Bool) in
            guard let entry = table.find(key) else {
                table.misses &+= 1
                return (nil, false)
            }
            table.hits &+= 1
            if entry.pointee.hits < 255 { entry.pointee.hits &+= 1 }
            entry.pointee.clock = Double(bitPattern: clock)
            return (entry.pointee.value, entry.pointee.canExpire)
        }
        return canExpire ? unexpired(value, for: key) : value
    }

    @inlinable
    @inline(__always)
    func shard(of key: CacheKey) -> UnsafeMutablePointer<Guarded<MemoryTable<Value>>> {
        Shards<Value>.shard(shards, key)
    }
}

/// The shards' memory: each on cache lines of its own, so that two threads in two shards do not meet.
@usableFromInline
enum Shards<Value: Sendable> {
    @usableFromInline typealias Shard = Guarded<MemoryTable<Value>>

    @inlinable static var count: Int { 64 }
    @inlinable static var stride: Int { (MemoryLayout<Shard>.size + 127) & ~127 }

    static func allocate() -> UnsafeMutableRawPointer {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: count * stride, alignment: 128)
        for number in 0..<count {
            (memory + number * stride).bindMemory(to: Shard.self, capacity: 1).initialize(to: Shard(MemoryTable()))
        }
        return memory
    }

    static func deallocate(_ memory: UnsafeMutableRawPointer) {
        for number in 0..<count { self[memory, number].deinitialize(count: 1) }
        memory.deallocate()
    }

    @inlinable
    static subscript(_ memory: UnsafeMutableRawPointer, _ number: Int) -> UnsafeMutablePointer<Shard> {
        (memory + number &* stride).assumingMemoryBound(to: Shard.self)
    }

    @inlinable
    @inline(__always)
    static func shard(_ memory: UnsafeMutableRawPointer, _ key: CacheKey) -> UnsafeMutablePointer<Shard> {
        self[memory, Int(truncatingIfNeeded: key.high >> 58)]
    }
}
