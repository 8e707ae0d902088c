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
        /// Before an entry is evicted, or removed because it is too old; it can still be read.
        ///
        /// Which entries go is foretold: where another process changes the directory at the same moment, others may go.
        /// With this hook choosing what goes takes time in the number of all entries.
        public var willEvict: (@Sendable (_ key: String) -> Void)?
        /// After an entry was evicted by this object, or removed because it was too old.
        public var didEvict: (@Sendable (_ key: String) -> Void)?
        /// After all entries were removed.
        public var didRemoveAll: (@Sendable () -> Void)?

        /// Creates hooks that do nothing.
        public init() {}
    }

    /// Sets the hooks, instead of those before.
    public func setHooks(_ hooks: Hooks) {
        self.hooks.withLock { $0 = hooks }
        ledger.withLock { $0.evictedKeys = hooks.didEvict == nil ? nil : [] }
    }

    /// Tells what a change is going to evict.
    func notifyWillEvict(_ victims: (Ledger) throws(SystemError) -> [IndexEntry]) {
        guard let willEvict = currentHooks.willEvict else { return }
        let keys = try? inTransaction { ledger throws(SystemError) in
            try victims(ledger).compactMap { ledger.storedKey(of: $0.key) }
        }
        for key in keys ?? [] { willEvict(key) }
    }

    /// The hooks now.
    var currentHooks: Hooks { hooks.withLock { $0 } }
}

extension Ledger {
    /// The key of an entry, from its file; `nil` where that cannot be read.
    func storedKey(of key: CacheKey) -> String? {
        let heading = (try? reader.summary(of: layout.path(of: key))).flatMap { $0 }
        guard case .success(let heading) = heading else { return nil }
        return heading.head.key
    }

    /// What making room for so many bytes would evict now.
    func victims(toFit count: Int) -> [IndexEntry] {
        guard usedSize + count > limits.totalSize else { return [] }
        return victims(downTo: limits.totalSize - limits.evictionSlack - reservedSize - count)
    }

    /// What would be evicted until the entries take at most `size` bytes.
    func victims(downTo size: Int, derivedFirst: Bool = false) -> [IndexEntry] {
        var index = index, victims: [IndexEntry] = []
        while index.allocatedSize > size {
            let isOverBudget = index.allocatedSizeByKind.derived > limits.derivedSize
            guard let entry = index.evict(derivedFirst: derivedFirst || isOverBudget) else { break }
            victims.append(entry)
        }
        return victims
    }
}
