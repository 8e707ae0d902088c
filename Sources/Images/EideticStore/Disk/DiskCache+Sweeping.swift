public import EideticCore

extension DiskCache {
    /// The result of a sweep.
    public struct SweepResult: Sendable, Hashable {
        /// The number of entries removed because of their age.
        public var expiredCount = 0
        /// The number of entries removed because of the cache's size.
        public var evictedCount = 0

        /// Creates a result.
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
        try await performCancellable { context throws(EideticError) in
            try self.removeFiles(modifiedBefore: date, context: context)
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
        try await performCancellable { context throws(EideticError) in
            try self.sweepFiles(olderThan: age, downTo: size, context: context)
        }
    }
}

// MARK: Removal by modification time
extension DiskCache {
    /// An entry's file with its modification time.
    private struct DatedFile {
        let key: CacheKey
        let modificationTime: Timestamp
        let allocatedSize: Int
    }

    func removeFiles(modifiedBefore date: Timestamp, context: JobContext) throws(EideticError) -> Int {
        try removeInBatches(try datedFiles().filter { $0.modificationTime < date }, context: context)
    }

    func sweepFiles(
        olderThan age: Duration?,
        downTo size: ByteCount?,
        context: JobContext
    ) throws(EideticError) -> SweepResult {
        let cutoff = time.now + .nanoseconds(-max(0, (age ?? configuration.maximumAge).inNanoseconds))
        let files = try datedFiles().sorted { $0.modificationTime < $1.modificationTime }
        var result = SweepResult()
        result.expiredCount = try removeInBatches(files.filter { $0.modificationTime < cutoff }, context: context)
        let remaining = files.drop { $0.modificationTime < cutoff }
        let surplus = Self.oldest(of: remaining, exceeding: size?.bytes ?? sizeLimit.bytes)
        if !surplus.isEmpty { result.evictedCount = try removeInBatches(surplus, context: context) }
        return result
    }

    /// Returns the oldest files, down to half of `size`, if all use more than `size` bytes.
    private static func oldest(of files: ArraySlice<DatedFile>, exceeding size: Int) -> [DatedFile] {
        var allocatedSize = files.reduce(0) { $0 + $1.allocatedSize }
        guard allocatedSize > size else { return [] }
        let oldest = files.prefix { file in
            defer { allocatedSize -= file.allocatedSize }
            return allocatedSize > size / 2
        }
        return Array(oldest)
    }

    private func datedFiles() throws(EideticError) -> [DatedFile] {
        do throws(SystemError) {
            var dated: [DatedFile] = []
            for shard in DiskLayout.shards { dated += try datedFiles(inShard: shard) }
            return dated
        } catch {
            throw EideticError(error)
        }
    }

    private func datedFiles(inShard number: Int) throws(SystemError) -> [DatedFile] {
        let directory = layout.shardPath(number)
        return try files.existingNames(in: directory).compactMap { name in
            guard let key = DiskLayout.key(named: name), key.shard == number,
                let status = try? files.linkStatus(of: "\(directory)/\(name)")
            else { return nil }
            return DatedFile(
                key: key,
                modificationTime: status.modificationTime,
                allocatedSize: status.allocatedSize
            )
        }
    }

    /// Removes files in batches, so that other processes get access in between; stops when `context` is cancelled.
    private func removeInBatches(_ files: [DatedFile], context: JobContext) throws(EideticError) -> Int {
        var count = 0
        for start in stride(from: 0, to: files.count, by: Self.batchSize) where !context.isCancelled {
            let batch = files[start..<min(files.count, start + Self.batchSize)]
            notifyWillEvict { ledger in batch.compactMap { ledger.index.entry(for: $0.key) } }
            count += try inWriteTransaction { ledger throws(SystemError) in
                var removedCount = 0
                for file in batch where try ledger.remove(file.key, isEviction: true) { removedCount += 1 }
                return removedCount
            }
        }
        return count
    }
}
