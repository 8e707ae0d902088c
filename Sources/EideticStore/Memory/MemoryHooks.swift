public import EideticCore

/// The functions that a memory cache calls when values are inserted and removed.
///
/// Each is called on the thread that makes the change, with no lock held, and may call the cache. Other threads may
/// change the cache meanwhile. All hooks are `nil` by default.
public struct MemoryHooks<Value: Sendable>: Sendable {
    /// A function that is called for an inserted value.
    public typealias InsertionHandler = @Sendable (_ key: CacheKey, _ value: Value, _ cost: ByteCount) -> Void
    /// A function that is called for a removed value.
    public typealias RemovalHandler = @Sendable (_ key: CacheKey, _ value: Value, _ reason: MemoryRemovalReason) -> Void

    /// Called before a value is inserted.
    public var willInsert: InsertionHandler?
    /// Called after a value was inserted; not if it was rejected because of its cost.
    public var didInsert: InsertionHandler?
    /// Called before a value is removed.
    ///
    /// A value that a caller removes can still be found. An evicted value left the cache already, since it is
    /// selected at the moment of the eviction.
    public var willRemove: RemovalHandler?
    /// Called after a value was removed, and before the cache releases it.
    public var didRemove: RemovalHandler?

    /// Creates hooks without functions.
    public init() {}
}
