import EideticCore

extension DiskCache {
    /// Functions that are told of the changes that one object makes.
    ///
    /// They are called on the thread that makes the change, never with a lock held, and may call back into the cache.
    public struct Hooks: Sendable {
        /// Before an entry is written: its key and size in bytes.
        public var willAdd: (@Sendable (_ key: String, _ size: Int) -> Void)?
        /// After an entry was written; not called where that failed.
        public var didAdd: (@Sendable (_ key: String, _ size: Int) -> Void)?
        /// Before an entry is removed by its key.
        public var willRemove: (@Sendable (_ key: String) -> Void)?
        /// After an entry was removed by its key; not called where there was none.
        public var didRemove: (@Sendable (_ key: String) -> Void)?
        /// After all entries were removed.
        public var didRemoveAll: (@Sendable () -> Void)?

        /// Creates hooks that do nothing.
        public init() {}
    }

    /// Sets the hooks, instead of those before.
    public func setHooks(_ hooks: Hooks) { self.hooks.withLock { $0 = hooks } }

    /// The hooks now.
    var currentHooks: Hooks { hooks.withLock { $0 } }
}
