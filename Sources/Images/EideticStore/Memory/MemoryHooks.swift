public import EideticCore

/// The functions that a memory cache calls when values are inserted and removed.
///
/// Each is called on the thread that makes the change, with no lock held, and may call the cache. Other threads may
/// change the cache meanwhile. All hooks are `nil` by default.
public struct MemoryHooks<Value: Sendable>: Sendable {
    /// Called before a value is inserted.
    public var willInsert: (@Sendable (_ key: CacheKey, _ value: Value, _ cost: ByteCount) -> Void)?
    /// Called after a value was inserted; not called if it was rejected because of its cost.
    public var didInsert: (@Sendable (_ key: CacheKey, _ value: Value, _ cost: ByteCount) -> Void)?
    /// Called before a value is removed.
    ///
    /// A value that a caller removes is still in the cache. An evicted value has already left it, since it is selected
    /// at the moment of eviction.
    public var willRemove: (@Sendable (_ key: CacheKey, _ value: Value, _ reason: MemoryRemovalReason) -> Void)?
    /// Called after a value was removed, and before the cache releases it.
    public var didRemove: (@Sendable (_ key: CacheKey, _ value: Value, _ reason: MemoryRemovalReason) -> Void)?

    /// Creates hooks without functions.
    public init() {}
}
