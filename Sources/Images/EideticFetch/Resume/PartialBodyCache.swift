import EideticCore

/// An asynchronous view of the store of partial bodies, whose work background tasks cover.
struct PartialBodyCache: Sendable {
    let store: PartialBodyStore
    let pool: WorkPool
    let workGroup: BackgroundWorkGroup

    /// Removes and returns the partial body of an earlier download; the request is the one that is sent.
    func remove(for request: FetchRequest) async -> PartialBody? {
        guard let work = try? workGroup.begin() else { return nil }
        defer { work.end() }
        // The operation fails only if the task is cancelled or the background time expires; the body is then not
        // needed, or left for later.
        return try? await pool.run { [store] _ throws(EideticError) in
            try work.waitUntilAdmitted()
            return store.remove(for: request)
        }
    }

    /// Stores a partial body, even if the task has been cancelled, but not if the background time has expired.
    func insert(_ partialBody: PartialBody, for request: FetchRequest) async {
        guard let work = try? workGroup.begin() else { return }
        await withCheckedContinuation { continuation in
            pool.enqueue {
                do throws(EideticError) {
                    try work.waitUntilAdmitted()
                    try store.insert(partialBody, for: request)
                } catch {
                    Log.write(
                        .warning,
                        category: .fetch,
                        message: "cannot store the partial body of \(request.url): \(error)"
                    )
                }
                work.end()
                continuation.resume()
            }
        }
    }
}
