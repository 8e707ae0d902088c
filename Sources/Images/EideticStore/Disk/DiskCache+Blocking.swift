public import EideticCore
public import FoundationEssentials

extension DiskCache {
    /// The operations of a disk cache in blocking form.
    ///
    /// Each has the name of an asynchronous operation, does the same on the caller's thread, and blocks it for file
    /// access. Do not use them on the main actor or in asynchronous code.
    public struct Blocking: Sendable {
        let cache: DiskCache
    }

    /// The operations of the cache in blocking form.
    public var blocking: Blocking { Blocking(cache: self) }
}

// MARK: Reading
extension DiskCache.Blocking {
    /// Reads an entry; see ``DiskCache/read(_:allowingExpired:)``.
    public func read(_ key: String, allowingExpired: Bool = false) throws(EideticError) -> DiskCache.Entry? {
        try cache.lookup.read(key, allowingExpired: allowingExpired)
    }

    /// Returns `true` if `read` would find an entry; see ``DiskCache/contains(_:)``.
    public func contains(_ key: String) throws(EideticError) -> Bool { try cache.lookup.contains(key) }

    /// Reads and decodes a value; see ``DiskCache/value(for:with:)``.
    public func value<Value>(
        for key: String,
        with serializer: DiskCache.Serializer<Value>
    ) throws(EideticError) -> Value? {
        guard let entry = try read(key) else { return nil }
        return try serializer.decode(entry)
    }

    /// Stores bytes for a key; see ``DiskCache/insert(_:for:metadata:)``.
    public func insert(
        _ bytes: some ContiguousBytes,
        for key: String,
        metadata: DiskCache.Metadata = DiskCache.Metadata()
    ) throws(EideticError) {
        try cache.work.group.run { () throws(EideticError) in
            try cache.writer.store(bytes.array, for: key, metadata: metadata)
        }
    }

    /// Encodes and stores a value; see ``DiskCache/insert(_:for:with:metadata:)``.
    public func insert<Value>(
        _ value: Value,
        for key: String,
        with serializer: DiskCache.Serializer<Value>,
        metadata: DiskCache.Metadata = DiskCache.Metadata()
    ) throws(EideticError) {
        try cache.work.group.run { () throws(EideticError) in
            try cache.writer.store(try serializer.encode(value, for: key), for: key, metadata: metadata)
        }
    }

    /// Removes an entry; see ``DiskCache/remove(_:)``.
    @discardableResult
    public func remove(_ key: String) throws(EideticError) -> URL? {
        try cache.work.group.run { () throws(EideticError) in try cache.removal.remove(key) }
    }

    /// Removes all entries; see ``DiskCache/removeAll()``.
    public func removeAll() throws(EideticError) {
        try cache.work.group.run { () throws(EideticError) in try cache.removal.removeAll() }
    }

    /// Removes all expired entries; see ``DiskCache/removeExpired()``.
    @discardableResult
    public func removeExpired() throws(EideticError) -> Int {
        try cache.work.runCancellable { context throws(EideticError) in
            try cache.removal.removeExpired(context: context)
        }
    }

    /// Removes the entries stored before a date; see ``DiskCache/removeEntries(storedBefore:)``.
    @discardableResult
    public func removeEntries(storedBefore date: Timestamp) throws(EideticError) -> Int {
        try cache.work.runCancellable { context throws(EideticError) in
            try cache.removal.removeFiles(modifiedBefore: date, context: context)
        }
    }

    /// Evicts entries down to a size; see ``DiskCache/trim(toSize:)``.
    @discardableResult
    public func trim(toSize size: ByteCount) throws(EideticError) -> Int {
        try cache.work.runCancellable { context throws(EideticError) in
            try cache.removal.trim(toSize: size, context: context)
        }
    }

    /// Removes old entries by the modification times of their files; see ``DiskCache/sweep(olderThan:downTo:)``.
    @discardableResult
    public func sweep(
        olderThan age: Duration? = nil,
        downTo size: ByteCount? = nil
    ) throws(EideticError) -> DiskCache.SweepResult {
        try cache.work.runCancellable { context throws(EideticError) in
            try cache.removal.sweep(olderThan: age, downTo: size, context: context)
        }
    }

    /// The number and size of all entries; see ``DiskCache/usage``.
    public var usage: DiskCache.Usage { cache.scan.usage() }

    /// Returns all entries; see ``DiskCache/entries()``.
    public func entries() throws(EideticError) -> [DiskCache.EntryInfo] { try cache.scan.entries() }
}
