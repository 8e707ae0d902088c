import EideticCore

/// The tiers and bundles behind the directory of a disk cache.
///
/// A tier that fails is logged, and counts as one without the entry.
struct FurtherCaches {
    private let directory: SharedDirectory

    init(of directory: SharedDirectory) { self.directory = directory }

    private var tiers: [DiskCache.Tier] { directory.configuration.tiers }

    /// Finds an entry in the tiers or else in the bundles; `nil` if there is none.
    func find(_ key: String, allowingExpired: Bool) throws(EideticError) -> EntryLookup.Outcome? {
        var isExpired = false
        for tier in tiers {
            let found = attempt("read from") { () throws(EideticError) in try tier.cache.entry(for: key) }
            guard let entry = found ?? nil else { continue }
            let storageTime = entry.metadata.storageTime
            isExpired = directory.ages.isExpired(entry.metadata, modified: storageTime, at: directory.time.now)
            if allowingExpired || !isExpired { return .entry(entry) }
        }
        for bundle in directory.configuration.bundles {
            guard let bytes = try bundle.read(key, using: directory.files) else { continue }
            return .entry(DiskCache.Entry(key: key, bytes: bytes))
        }
        return isExpired ? .expired : nil
    }

    /// Returns `true` if `find` would find an entry that has not expired; files of bundles are not read.
    func contains(_ key: String) throws(EideticError) -> Bool {
        if !tiers.isEmpty, case .entry? = try find(key, allowingExpired: false) { return true }
        for bundle in directory.configuration.bundles where try bundle.path(for: key, using: directory.files) != nil {
            return true
        }
        return false
    }

    /// Stores a new entry in the tiers that are written.
    func insert(_ bytes: [UInt8], for key: String, metadata: DiskCache.Metadata) {
        for tier in tiers where tier.isWritten {
            let entry = DiskCache.Entry(key: key, bytes: bytes, metadata: metadata)
            attempt("written to") { () throws(EideticError) in try tier.cache.insert(entry) }
        }
    }

    /// Removes an entry from all tiers, as it would be found again.
    func remove(_ key: String) {
        for tier in tiers { attempt("removed from") { () throws(EideticError) in try tier.cache.remove(key) } }
    }

    /// Empties the tiers that are written.
    func removeAll() {
        for tier in tiers where tier.isWritten {
            attempt("removed from") { () throws(EideticError) in try tier.cache.removeAll() }
        }
    }

    @discardableResult
    private func attempt<Value>(_ action: String, body: () throws(EideticError) -> Value) -> Value? {
        do throws(EideticError) {
            return try body()
        } catch {
            Log.write(.warning, category: .store, message: "not \(action) a further tier: \(error)")
            return nil
        }
    }
}
