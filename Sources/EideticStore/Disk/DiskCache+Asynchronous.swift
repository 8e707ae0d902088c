public import EideticCore

// The asynchronous forms: each does on a thread of the cache what the blocking one of the same name does.
extension DiskCache {
    /// Reads an entry on a thread of the cache; see `read`.
    ///
    /// Throws `cancelled` where the task is cancelled before the read begins.
    public func value(for key: String, allowingExpired: Bool = false) async throws(EideticError) -> Entry? {
        try await pool.run { _ throws(EideticError) in try self.read(key, allowingExpired: allowingExpired) }
    }

    /// Stores bytes on a thread of the cache; see `write`.
    ///
    /// Returns when the entry is in place: who waits for it before the next one needs no other back-pressure.
    public func insert(
        _ bytes: [UInt8],
        for key: String,
        metadata: Metadata = Metadata()
    ) async throws(EideticError) {
        try await queued { () throws(EideticError) in try self.store(bytes, for: key, metadata) }
    }

    /// Removes an entry on a thread of the cache; see `remove`.
    @discardableResult
    public func removeValue(for key: String) async throws(EideticError) -> Bool {
        try await queued { () throws(EideticError) in try self.remove(key) }
    }

    /// Removes all entries on a thread of the cache; see `removeAll`.
    public func removeAllValues() async throws(EideticError) {
        try await queued { () throws(EideticError) in try self.removeAll() }
    }

    /// Runs a piece of work on a thread of the cache; the burst covers it from now to its end.
    func queued<Value: Sendable>(
        _ body: @escaping @Sendable () throws(EideticError) -> Value
    ) async throws(EideticError) -> Value {
        try burst.enter()
        defer { burst.leave() }
        return try await pool.run { _ throws(EideticError) in
            try self.burst.check()
            return try body()
        }
    }
}
