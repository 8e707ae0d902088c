public import EideticCore

// The asynchronous forms: each does on a thread of the cache what the blocking one does. Those that share its name
// cannot share its signature, so the blocking ones are verbs of files (`read`, `write`), these verbs of values.
extension DiskCache {
    /// Reads an entry on a thread of the cache; see `read`.
    ///
    /// Throws `cancelled` where the task is cancelled before the read begins.
    public func value(for key: String, allowingExpired: Bool = false) async throws(EideticError) -> Entry? {
        try await pool.run { _ throws(EideticError) in try self.read(key, allowingExpired: allowingExpired) }
    }

    /// Reads an entry on a thread of the cache, and tells why there is none; see `find`.
    ///
    /// As urgently as `context` says at any time.
    package func findValue(for key: String, _ context: JobContext) async throws(EideticError) -> LookupResult {
        try await pool.run(in: context) { _ throws(EideticError) in try self.lookUp(key) }
    }

    /// Whether there is an entry, asked on a thread of the cache; see `contains`.
    public func containsValue(for key: String) async throws(EideticError) -> Bool {
        try await pool.run { _ throws(EideticError) in try self.contains(key) }
    }

    /// Stores bytes on a thread of the cache; see `write`.
    ///
    /// Returns when the entry is in place: who waits for it before the next one needs no other back-pressure.
    public func insert(
        _ bytes: [UInt8],
        for key: String,
        metadata: Metadata = Metadata()
    ) async throws(EideticError) {
        try await perform { () throws(EideticError) in try self.store(bytes, for: key, metadata: metadata) }
    }

    /// Removes an entry on a thread of the cache; see `remove`.
    @discardableResult
    public func removeValue(for key: String) async throws(EideticError) -> Bool {
        try await perform { () throws(EideticError) in try self.remove(key) }
    }

    /// Removes all entries on a thread of the cache; see `removeAll`.
    public func removeAllValues() async throws(EideticError) {
        try await perform { () throws(EideticError) in try self.removeAll() }
    }

    /// Removes what is too old on a thread of the cache; stops between two steps when the task is cancelled.
    @discardableResult
    public func removeExpiredValues() async throws(EideticError) -> Int {
        try await performCancellable { context throws(EideticError) in try self.removeExpired(context: context) }
    }

    /// Evicts on a thread of the cache; stops between two steps when the task is cancelled; see `trim(to:)`.
    @discardableResult
    public func trimValues(to size: ByteCount) async throws(EideticError) -> Int {
        try await performCancellable { context throws(EideticError) in try self.trim(toSize: size, context: context) }
    }

    /// All entries, listed on a thread of the cache; see `entries`.
    public func listedEntries() async throws(EideticError) -> [EntryInfo] {
        try await pool.run { _ throws(EideticError) in try self.entries() }
    }

    /// What the cache holds, asked on a thread of the cache; see `usage`.
    public func currentUsage() async throws(EideticError) -> Usage {
        try await pool.run { _ throws(EideticError) in self.usage }
    }

    /// Runs a piece of work on a thread of the cache; the burst covers it from now to its end.
    func perform<Value: Sendable>(
        priority: LoadPriority = .normal,
        operation body: @escaping @Sendable () throws(EideticError) -> Value
    ) async throws(EideticError) -> Value {
        try workGroup.enter()
        defer { workGroup.leave() }
        return try await pool.run(in: JobContext(priority: priority)) { _ throws(EideticError) in
            try self.workGroup.checkNotExpired()
            return try body()
        }
    }

    /// As `queued`, for work that is cancelled when the time in the background is used up.
    private func performCancellable<Value: Sendable>(
        _ body: @escaping @Sendable (JobContext) throws(EideticError) -> Value
    ) async throws(EideticError) -> Value {
        let context = JobContext(priority: .low)
        try workGroup.enter(cancellable: context)
        defer { workGroup.leave(cancellable: context) }
        return try await pool.run(in: context, operation: body)
    }
}
