import EideticCore

/// A log of the keys that were read since the last drain.
///
/// A read appends its key here and writes nothing to disk. The next write applies the log to the ledger; after many
/// reads without a write, a thread of the cache applies it.
final class AccessLog: Sendable {
    private static let batchSize = 1_024
    private static let capacity = 8 * batchSize

    private let directory: SharedDirectory
    private let keys = Guarded<[CacheKey]>([])

    init(of directory: SharedDirectory) { self.directory = directory }

    /// Records that an entry was used, so that it is evicted later.
    ///
    /// Uses beyond the capacity are not recorded.
    func record(_ key: CacheKey) {
        let isFullBatch = keys.withLock { keys in
            guard keys.count < Self.capacity else { return false }
            keys.append(key)
            return keys.count % Self.batchSize == 0
        }
        guard isFullBatch, !directory.configuration.isReadOnly else { return }
        directory.work.schedule(for: self) { log, _ in log.flush() }
    }

    /// Removes and returns all recorded keys.
    func drain() -> [CacheKey] {
        keys.withLock { keys in
            let drained = keys
            keys.removeAll(keepingCapacity: drained.count <= 2 * Self.batchSize)
            return drained
        }
    }

    /// Lets the age of an entry begin anew, if it counts from the latest use.
    func renewAge(of key: CacheKey, with metadata: DiskCache.Metadata) {
        guard directory.ages.isExtendedByUse(metadata), let work = try? directory.work.begin() else { return }
        defer { work.end() }
        guard (try? work.waitUntilAdmitted()) != nil else { return }
        try? directory.files.setModificationTime(of: directory.layout.path(of: key), to: directory.time.now)
    }

    /// Applies the log to the ledger.
    private func flush() {
        let accesses = drain()
        do throws(SystemError) {
            try directory.transaction { ledger throws(SystemError) in
                try ledger.append(ledger.recordAccesses(accesses))
            }
        } catch {
            Log.write(.debug, category: .store, message: "\(accesses.count) accesses are not recorded: \(error)")
        }
    }
}
