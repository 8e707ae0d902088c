import EideticCore

/// An asynchronous view of a `PartialBodyStore`; empty without a store.
struct PartialBodyCache: Sendable {
    let store: PartialBodyStore?
    let pool: WorkPool

    init(store: PartialBodyStore?, pool: WorkPool) {
        self.store = store
        self.pool = pool
    }

    /// Removes and returns the partial body of an earlier download.
    func remove(for request: FetchRequest) async -> PartialBody? {
        guard let store else { return nil }
        // The operation fails only if the task is cancelled, and then the body is not needed.
        return try? await pool.run { _ throws(EideticError) in store.remove(for: request) }
    }

    /// Stores a partial body, even if the task has been cancelled.
    func insert(_ partialBody: PartialBody, for request: FetchRequest) async {
        guard let store else { return }
        await withCheckedContinuation { continuation in
            pool.enqueue {
                do throws(SystemError) {
                    try store.insert(partialBody, for: request)
                } catch {
                    Log.write(
                        .warning,
                        category: .fetch,
                        message: "cannot store the partial body of \(request.url): \(error)"
                    )
                }
                continuation.resume()
            }
        }
    }
}
