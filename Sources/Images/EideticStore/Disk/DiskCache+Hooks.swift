extension DiskCache {
    /// Functions that a cache calls before and after it changes its entries.
    ///
    /// They are called on the thread that makes the change, never while a lock is held, and may use the cache. Changes
    /// by other processes, or by other caches of the same directory, do not call them.
    public struct Hooks: Sendable {
        /// A function called before an entry is written, with its key and size in bytes.
        public var willAdd: (@Sendable (_ key: String, _ size: Int) -> Void)?
        /// A function called after an entry was written; not called if the write failed.
        public var didAdd: (@Sendable (_ key: String, _ size: Int) -> Void)?
        /// A function called before an entry is removed by its key.
        public var willRemove: (@Sendable (_ key: String) -> Void)?
        /// A function called after an entry was removed by its key; not called if there was none.
        public var didRemove: (@Sendable (_ key: String) -> Void)?
        /// A function called before an entry is evicted or removed because it has expired, while it can still be read.
        ///
        /// The selection is a prediction: if another process changes the directory at the same time, other entries may
        /// be evicted. With this hook set, each selection takes time proportional to the number of entries.
        public var willEvict: (@Sendable (_ key: String) -> Void)?
        /// A function called after this cache evicted an entry or removed it because it had expired.
        public var didEvict: (@Sendable (_ key: String) -> Void)?
        /// A function called after all entries were removed.
        public var didRemoveAll: (@Sendable () -> Void)?

        /// Creates hooks that do nothing.
        public init() {}
    }
}
