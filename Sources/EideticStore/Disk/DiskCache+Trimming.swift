public import EideticCore

extension DiskCache {
    /// What an explicit sweep removed.
    public struct Sweep: Sendable, Hashable {
        /// Entries that were too old.
        public var expired = 0
        /// Entries that went because the cache was too large.
        public var evicted = 0

        /// Creates a record.
        public init(expired: Int = 0, evicted: Int = 0) { (self.expired, self.evicted) = (expired, evicted) }
    }

    /// Removes entries that were written before a moment; blocks on file work.
    ///
    /// Goes by the files' time of modification. Gives how many went. Complexity: O(*n*) looks at files.
    @discardableResult
    public func trim(to moment: Timestamp) throws(EideticError) -> Int {
        try burst.run { () throws(EideticError) in
            try removeSteps(try datedFiles().filter { $0.modified < moment })
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
    public func sweep(olderThan age: Duration? = nil, downTo size: ByteCount? = nil) throws(EideticError) -> Sweep {
        try burst.run { () throws(EideticError) in
            let limit = time.now + .nanoseconds(-max(0, (age ?? configuration.maximumAge).inNanoseconds))
            let files = try datedFiles().sorted { $0.modified < $1.modified }
            var sweep = Sweep()
            sweep.expired = try removeSteps(files.filter { $0.modified < limit })
            let rest = files.drop { $0.modified < limit }
            var allocated = rest.reduce(0) { $0 + $1.allocated }
            let wanted = size?.bytes ?? sizeLimit.bytes
            guard allocated > wanted else { return sweep }
            let oldest = rest.prefix { file in
                defer { allocated -= file.allocated }
                return allocated > wanted / 2
            }
            sweep.evicted = try removeSteps(Array(oldest))
            return sweep
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
                let shard = layout.shard(number)
                for name in try files.existingNames(in: shard) {
                    guard let key = DiskLayout.key(named: name), key.shard == number,
                        let status = try? files.linkStatus(of: "\(shard)/\(name)")
                    else { continue }
                    dated.append(DatedFile(key: key, modified: status.modified, allocated: status.allocated))
                }
            }
            return dated
        } catch {
            throw EideticError(error)
        }
    }

    /// Removes files step by step, so that others get their turn in between.
    private func removeSteps(_ files: [DatedFile]) throws(EideticError) -> Int {
        var count = 0
        for start in stride(from: 0, to: files.count, by: 64) {
            let step = files[start..<min(files.count, start + 64)]
            announce { ledger in step.compactMap { ledger.index.entry($0.key) } }
            count += try changePublicly { ledger throws(SystemError) in
                var removed = 0
                for file in step where try ledger.remove(file.key, isDeparture: true) { removed += 1 }
                return removed
            }
        }
        return count
    }

    /// Looks through the whole directory once where the machine was started anew since the ledger was begun: a power
    /// cut may have taken files, or records of files.
    func startCheckIfDoubtful() {
        let isDoubtful = ledger.withLock { ledger in
            defer { ledger.isCheckQueued = true }
            return ledger.isDoubtful && !ledger.isCheckQueued
        }
        let context = WorkContext(priority: .low)
        guard isDoubtful, (try? burst.enter(optional: context)) != nil else { return }
        pool.enqueue(context) { [burst, weak self] in
            defer { burst.leave(optional: context) }
            self?.checkAll(context)
        }
    }

    private func checkAll(_ context: WorkContext) {
        do throws(SystemError) {
            for shard in DiskLayout.shards {
                if context.isCancelled { return }
                try change { ledger throws(SystemError) in try ledger.check(shard: shard) }
            }
            try change { ledger throws(SystemError) in
                ledger.isDoubtful = false
                try ledger.rewrite()
            }
        } catch {
            Log.write(.warning, .store, "\(layout.directory) could not be checked: \(error)")
        }
    }
}
