public import EideticCore
public import struct FoundationEssentials.URL

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
        guard case .entry(let entry) = try lookUp(key, allowingExpired: allowingExpired) else { return nil }
        return entry
    }

    /// Reads an entry, and returns the reason for a miss.
    package func lookUp(
        _ key: String,
        allowingExpired: Bool = false
    ) throws(EideticError) -> DiskCache.LookupResult {
        try cache.findEntry(for: key, allowingExpired: allowingExpired)
    }

    /// Returns `true` if `read` would find an entry; see ``DiskCache/contains(_:)``.
    public func contains(_ key: String) throws(EideticError) -> Bool {
        if let info = try info(for: key), !info.isExpired { return true }
        if !cache.configuration.tiers.isEmpty,
            case .entry? = try cache.findFurtherEntry(for: key, allowingExpired: false)
        {
            return true
        }
        for bundle in cache.configuration.bundles where try bundle.path(for: key, using: cache.files) != nil {
            return true
        }
        return false
    }

    /// Returns the description of an entry; see ``DiskCache/info(for:)``.
    package func info(for key: String) throws(EideticError) -> DiskCache.EntryInfo? { try cache.entryInfo(for: key) }

    /// Reads and decodes a value; see ``DiskCache/value(for:with:)``.
    public func value<Value>(
        for key: String,
        with serializer: DiskCache.Serializer<Value>
    ) throws(EideticError) -> Value? {
        guard let entry = try read(key) else { return nil }
        return try serializer.decode(entry)
    }
}

// MARK: Writing
extension DiskCache.Blocking {
    /// Stores bytes for a key; see ``DiskCache/insert(_:for:metadata:)``.
    public func insert(
        _ bytes: [UInt8],
        for key: String,
        metadata: DiskCache.Metadata = DiskCache.Metadata()
    ) throws(EideticError) {
        try cache.covered { () throws(EideticError) in try cache.store(bytes, for: key, metadata: metadata) }
    }

    /// Encodes and stores a value; see ``DiskCache/insert(_:for:with:metadata:)``.
    public func insert<Value>(
        _ value: Value,
        for key: String,
        with serializer: DiskCache.Serializer<Value>,
        metadata: DiskCache.Metadata = DiskCache.Metadata()
    ) throws(EideticError) {
        try cache.covered { () throws(EideticError) in
            try cache.store(try serializer.encode(value, for: key), for: key, metadata: metadata)
        }
    }

    /// Replaces the metadata of an entry; see ``DiskCache/replaceMetadata(of:with:)``.
    @discardableResult
    package func replaceMetadata(
        of entry: DiskCache.Entry,
        with metadata: DiskCache.Metadata
    ) throws(EideticError) -> Bool {
        try cache.covered { () throws(EideticError) in try cache.replaceStoredMetadata(of: entry, with: metadata) }
    }
}

// MARK: Removing
extension DiskCache.Blocking {
    /// Removes an entry; see ``DiskCache/remove(_:)``.
    @discardableResult
    public func remove(_ key: String) throws(EideticError) -> URL? {
        try cache.covered { () throws(EideticError) in try cache.removeEntry(for: key) }
    }

    /// Removes all entries; see ``DiskCache/removeAll()``.
    public func removeAll() throws(EideticError) {
        try cache.covered { () throws(EideticError) in try cache.removeAllEntries() }
    }

    /// Removes all expired entries; see ``DiskCache/removeExpired()``.
    @discardableResult
    public func removeExpired() throws(EideticError) -> Int {
        try cache.coveredCancellable { context throws(EideticError) in try cache.removeExpired(context: context) }
    }

    /// Removes the entries stored before a date; see ``DiskCache/removeEntries(storedBefore:)``.
    @discardableResult
    public func removeEntries(storedBefore date: Timestamp) throws(EideticError) -> Int {
        try cache.coveredCancellable { context throws(EideticError) in
            try cache.removeFiles(modifiedBefore: date, context: context)
        }
    }

    /// Evicts entries down to a size; see ``DiskCache/trim(toSize:)``.
    @discardableResult
    public func trim(toSize size: ByteCount) throws(EideticError) -> Int {
        try cache.coveredCancellable { context throws(EideticError) in
            try cache.trim(toSize: size, context: context)
        }
    }

    /// Removes old entries by the modification times of their files; see ``DiskCache/sweep(olderThan:downTo:)``.
    @discardableResult
    public func sweep(
        olderThan age: Duration? = nil,
        downTo size: ByteCount? = nil
    ) throws(EideticError) -> DiskCache.SweepResult {
        try cache.coveredCancellable { context throws(EideticError) in
            try cache.sweepFiles(olderThan: age, downTo: size, context: context)
        }
    }
}

// MARK: Listing
extension DiskCache.Blocking {
    /// The number and size of all entries; see ``DiskCache/usage``.
    public var usage: DiskCache.Usage { cache.currentUsage() }

    /// Returns all entries; see ``DiskCache/entries()``.
    public func entries() throws(EideticError) -> [DiskCache.EntryInfo] { try cache.listEntries() }

    /// Verifies all entries; see ``DiskCache/verify()``.
    package func verify() throws(EideticError) -> (checked: Int, damaged: [DiskCache.DamagedEntry]) {
        try cache.verifyEntries()
    }
}
