public import EideticCore

extension DiskCache {
    /// Reads an entry on a thread of the cache; see `read`.
    ///
    /// Throws `cancelled` where the task is cancelled before the read begins.
    public func value(for key: String, allowingExpired: Bool = false) async throws(EideticError) -> Entry? {
        try await pool.run { _ throws(EideticError) in try self.read(key, allowingExpired: allowingExpired) }
    }

    /// Stores bytes on a thread of the cache; see `write`.
    ///
    /// Returns when the entry is in place.
    public func insert(
        _ bytes: [UInt8],
        for key: String,
        metadata: Metadata = Metadata()
    ) async throws(EideticError) {
        try await pool.run { _ throws(EideticError) in try self.write(bytes, for: key, metadata: metadata) }
    }
}
