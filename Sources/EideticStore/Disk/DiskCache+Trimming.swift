public import EideticCore

extension DiskCache {
    /// What an explicit sweep removed.
    public struct SweepResult: Sendable, Hashable {
        /// Entries that were too old.
        public var expiredCount = 0
        /// Entries that went because the cache was too large.
        public var evictedCount = 0

        /// Creates a record.
        public init(expiredCount: Int = 0, evictedCount: Int = 0) {
            (self.expiredCount, self.evictedCount) = (expiredCount, evictedCount)
        }
    }

    /// Removes entries that were written before a moment; blocks on file work.
    ///
    /// Goes by the files' time of modification. Gives how many went. Complexity: O(*n*) looks at files.
    @discardableResult
    public func removeEntries(storedBefore moment: Timestamp) throws(EideticError) -> Int {
        try workGroup.run { () throws(EideticError) in
            try removeInBatches(try datedFiles().filter { $0.modified < moment })
        }
    }

    /// The classic sweep; blocks on file work.
    ///
    /// Entries whose time of modification is more than `age` ago are removed. If the rest takes more than `size`, the
    /// oldest go until half of it is left. Nothing but entries is touched. The cache does not need it: it holds its
    /// limits at every moment.
    ///
    /// - Parameters:
    ///   - age: The cache's maximum age by default.
    ///   - size: The cache's size limit by default.
    /// - Returns: How many went, and why.
    /// - Throws: `permissionDenied`, `fileFailure`.
    /// - Complexity: O(*n* log *n*) in the number of entries.
    @discardableResult
    public func sweep(olderThan age: Duration? = nil, downTo size: ByteCount? = nil) throws(EideticError) -> SweepResult
    {
        try workGroup.run { () throws(EideticError) in
            let cutoff = time.now + .nanoseconds(-max(0, (age ?? configuration.maximumAge).inNanoseconds))
            let files = try datedFiles().sorted { $0.modified < $1.modified }
            var result = SweepResult()
            result.expiredCount = try removeInBatches(files.filter { $0.modified < cutoff })
            let remaining = files.drop { $0.modified < cutoff }
            var allocated = remaining.reduce(0) { $0 + $1.allocated }
            let targetSize = size?.bytes ?? sizeLimit.bytes
            guard allocated > targetSize else { return result }
            let oldest = remaining.prefix { file in
                defer { allocated -= file.allocated }
                return allocated > targetSize / 2
            }
            result.evictedCount = try removeInBatches(Array(oldest))
            return result
        }
    }

    /// An entry's file and its times.
    private struct DatedFile {
        let key: CacheKey
        let modified: Timestamp
        let allocated: Int
    }

    private func datedFiles() throws(EideticError) -> [DatedFile] {
        do throws(SystemError) {
            var dated: [DatedFile] = []
            for number in DiskLayout.shards {
                let shard = layout.shardPath(number)
                for name in try files.existingNames(in: shard) {
                    guard let key = DiskLayout.key(named: name), key.shard == number,
                        let status = try? files.linkStatus(of: "\(shard)/\(name)")
                    else { continue }
                    dated.append(
                        DatedFile(key: key, modified: status.modificationTime, allocated: status.allocatedSize)
                    )
                }
            }
            return dated
        } catch {
            throw EideticError(error)
        }
    }

    /// Removes files step by step, so that others get their turn in between.
    private func removeInBatches(_ files: [DatedFile]) throws(EideticError) -> Int {
        var count = 0
        for start in stride(from: 0, to: files.count, by: 64) {
            let batch = files[start..<min(files.count, start + 64)]
            notifyWillEvict { ledger in batch.compactMap { ledger.index.entry(for: $0.key) } }
            count += try inWriteTransaction { ledger throws(SystemError) in
                var removed = 0
                for file in batch where try ledger.remove(file.key, isEviction: true) { removed += 1 }
                return removed
            }
        }
        return count
    }

    /// Looks through the whole directory once where the machine was started anew since the ledger was begun: a power
    /// cut may have taken files, or records of files.
    func scheduleReconciliationIfNeeded() {
        let isNeeded = ledger.withLock { ledger in
            defer { ledger.isReconciliationScheduled = true }
            return ledger.needsReconciliation && !ledger.isReconciliationScheduled
        }
        let context = JobContext(priority: .low)
        guard isNeeded, (try? workGroup.enter(cancellable: context)) != nil else { return }
        pool.enqueue(in: context) { [workGroup, weak self] in
            defer { workGroup.leave(cancellable: context) }
            self?.reconcileAll(context: context)
        }
    }

    private func reconcileAll(context: JobContext) {
        do throws(SystemError) {
            for shard in DiskLayout.shards {
                if context.isCancelled { return }
                try inTransaction { ledger throws(SystemError) in try ledger.reconcile(shard: shard) }
            }
            try inTransaction { ledger throws(SystemError) in
                ledger.needsReconciliation = false
                try ledger.rewrite()
            }
        } catch {
            Log.write(.warning, category: .store, message: "\(layout.directory) could not be checked: \(error)")
        }
    }
}
