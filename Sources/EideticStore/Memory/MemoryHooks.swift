public import EideticCore

/// Who is told of values that come to a memory cache and go from it.
///
/// Each is called on the thread that makes the change, with no lock held, and may call the cache. Between what it is
/// told and what it does, other threads may have gone on. All are `nil` by default.
public struct MemoryHooks<Value: Sendable>: Sendable {
    /// Told of a value that came or comes, with its cost.
    public typealias InsertionHandler = @Sendable (_ key: CacheKey, _ value: Value, _ cost: ByteCount) -> Void
    /// Told of a value that went or goes, and why.
    public typealias RemovalHandler = @Sendable (_ key: CacheKey, _ value: Value, _ reason: MemoryRemovalReason) -> Void

    /// Called before a value is put in.
    public var willInsert: InsertionHandler?
    /// Called after a value was put in; not where it was refused for its cost.
    public var didInsert: InsertionHandler?
    /// Called before a value goes.
    ///
    /// Where the caller removes it, it can still be found. Where room is needed for another, it was taken out already,
    /// since which one goes is chosen at that moment.
    public var willRemove: RemovalHandler?
    /// Called after a value went, and before the cache's reference to it is given up.
    public var didRemove: RemovalHandler?

    /// Creates hooks that call nobody.
    public init() {}
}
