public import EideticCore

extension DiskCache {
    /// Reads an entry.
    ///
    /// The file is opened, read and closed once, and all of its bytes are verified. A file that is damaged or belongs
    /// to another key is removed.
    ///
    /// - Parameters:
    ///   - key: The key; an empty one has no entry.
    ///   - allowingExpired: Whether an expired entry is returned, too, for example to revalidate it; `false` by
    ///     default.
    /// - Returns: The entry, or `nil` if there is none or it has expired.
    /// - Throws: `cancelled` if the task is cancelled before the read starts, `permissionDenied`, or `fileFailure` if
    ///   the device fails; no error for a damaged entry.
    nonisolated(nonsending) public func read(
        _ key: String,
        allowingExpired: Bool = false
    ) async throws(EideticError) -> Entry? {
        try await work.pool.run { _ throws(EideticError) in
            try self.lookup.read(key, allowingExpired: allowingExpired)
        }
    }

    /// Returns `true` if `read` would find an entry.
    ///
    /// The entry's bytes are not read, so damage to them is not detected.
    nonisolated(nonsending) public func contains(_ key: String) async throws(EideticError) -> Bool {
        try await work.pool.run { _ throws(EideticError) in try self.lookup.contains(key) }
    }

    /// The number and size of all entries, over all processes that use the directory.
    ///
    /// If the ledger cannot be read, or background time has expired, these are the last known values. For a read-only
    /// directory without a ledger the files are counted.
    /// - Complexity: O(1), and O(*n*) in the number of changes by other processes since the last access.
    nonisolated(nonsending) public var usage: Usage {
        get async throws(EideticError) {
            try await work.pool.run { _ throws(EideticError) in self.scan.usage() }
        }
    }

    /// Returns all entries, in no order.
    ///
    /// - Complexity: O(*n*) file reads in the number of entries.
    nonisolated(nonsending) public func entries() async throws(EideticError) -> [EntryInfo] {
        try await work.pool.run { _ throws(EideticError) in try self.scan.entries() }
    }
}
