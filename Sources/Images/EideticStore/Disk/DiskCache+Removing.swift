public import EideticCore
public import struct FoundationEssentials.URL

extension DiskCache {
    /// Removes an entry.
    ///
    /// - Returns: The former URL of the entry's file; `nil` if there was no entry.
    @discardableResult
    nonisolated(nonsending) public func remove(_ key: String) async throws(EideticError) -> URL? {
        try await work.perform { () throws(EideticError) in try self.removal.remove(key) }
    }

    /// Removes all entries.
    ///
    /// Files that do not belong to the cache are not removed.
    nonisolated(nonsending) public func removeAll() async throws(EideticError) {
        try await work.perform { () throws(EideticError) in try self.removal.removeAll() }
    }

    /// Removes all expired entries.
    ///
    /// If the task is cancelled, the removal stops early.
    ///
    /// - Returns: The number of removed entries.
    @discardableResult
    nonisolated(nonsending) public func removeExpired() async throws(EideticError) -> Int {
        try await work.performCancellable { context throws(EideticError) in
            try self.removal.removeExpired(context: context)
        }
    }

    /// Evicts the entries of the lowest priority until all use at most `size` on the device.
    ///
    /// Derived entries are evicted first, the user's entries last. If the task is cancelled, the eviction stops early.
    ///
    /// - Returns: The number of evicted entries.
    @discardableResult
    nonisolated(nonsending) public func trim(toSize size: ByteCount) async throws(EideticError) -> Int {
        try await work.performCancellable { context throws(EideticError) in
            try self.removal.trim(toSize: size, context: context)
        }
    }

    /// The result of a sweep.
    public struct SweepResult: Sendable, Hashable {
        /// The number of entries removed because of their age.
        public var expiredCount = 0
        /// The number of entries removed because of the cache's size.
        public var evictedCount = 0

        package init(expiredCount: Int = 0, evictedCount: Int = 0) {
            self.expiredCount = expiredCount
            self.evictedCount = evictedCount
        }
    }

    /// Removes the entries stored before `date`, according to the modification times of their files.
    ///
    /// - Returns: The number of removed entries.
    /// - Complexity: O(*n*) system calls in the number of entries.
    @discardableResult
    nonisolated(nonsending) public func removeEntries(storedBefore date: Timestamp) async throws(EideticError) -> Int {
        try await work.performCancellable { context throws(EideticError) in
            try self.removal.removeFiles(modifiedBefore: date, context: context)
        }
    }

    /// Removes old entries by the modification times of their files, as SDWebImage does.
    ///
    /// Entries last modified more than `age` ago are removed. If the remaining ones use more than `size`, the oldest
    /// are removed until half of it is in use. Only entries are removed. If the task is cancelled, or the background
    /// time expires, the sweep stops early. A sweep is never necessary: the cache keeps its limits at all times.
    ///
    /// - Parameters:
    ///   - age: The largest age; the cache's maximum age by default.
    ///   - size: The largest size; the cache's size limit by default.
    /// - Returns: The numbers of removed entries.
    /// - Throws: `permissionDenied`, `fileFailure`, or `cancelled`.
    /// - Complexity: O(*n* log *n*) in the number of entries.
    @discardableResult
    nonisolated(nonsending) public func sweep(
        olderThan age: Duration? = nil,
        downTo size: ByteCount? = nil
    ) async throws(EideticError) -> SweepResult {
        try await work.performCancellable { context throws(EideticError) in
            try self.removal.sweep(olderThan: age, downTo: size, context: context)
        }
    }
}
