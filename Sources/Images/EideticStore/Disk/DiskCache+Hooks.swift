import EideticCore

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

    /// Replaces all hooks.
    public func setHooks(_ hooks: Hooks) {
        // Those that were there are released without the lock.
        let replaced = self.hooks.withLock { current in
            defer { current = hooks }
            return current
        }
        withExtendedLifetime(replaced) {}
        recordEvictedKeys(hooks.didEvict != nil)
    }

    /// Calls the `willEvict` hook for each entry that a change is going to evict.
    func notifyWillEvict(_ victims: (Ledger) throws(SystemError) -> [IndexEntry]) {
        guard let willEvict = currentHooks.willEvict else { return }
        let keys = try? inTransaction { ledger throws(SystemError) in
            try victims(ledger).compactMap { ledger.storedKey(of: $0.key) }
        }
        for key in keys ?? [] { willEvict(key) }
    }

    /// The current hooks.
    var currentHooks: Hooks { hooks.withLock { $0 } }
}

extension Ledger {
    /// Returns the key stored in an entry's file, or `nil` if the file cannot be read.
    func storedKey(of key: CacheKey) -> String? {
        guard case .success(let summary)? = try? reader.summary(of: layout.path(of: key)) else { return nil }
        return summary.footer.key
    }

    /// Returns the entries to evict now so that `count` more bytes fit.
    func victims(toFit count: Int) -> [IndexEntry] {
        guard usedSize + count > limits.totalSize else { return [] }
        return victims(downTo: limits.totalSize - limits.evictionSlack - reservedSize - count)
    }

    /// Returns the entries to evict until the remaining ones use at most `size` bytes.
    func victims(downTo size: Int, derivedFirst: Bool = false) -> [IndexEntry] {
        var index = index
        var victims: [IndexEntry] = []
        while index.allocatedSize > size {
            let isOverBudget = index.allocatedSizeByKind.derived > limits.derivedSize
            guard let entry = index.evict(derivedFirst: derivedFirst || isOverBudget) else { break }
            victims.append(entry)
        }
        return victims
    }
}
