import EideticCore

/// Keeps beginnings of bodies on disk without blocking who asks; without a directory it keeps none.
struct PartialBodyCache: Sendable {
    let store: PartialBodyStore?
    let pool: WorkPool

    init(store: PartialBodyStore?, pool: WorkPool) {
        self.store = store
        self.pool = pool
    }

    /// What an earlier download of `request` left.
    func remove(for request: FetchRequest) async -> PartialBody? {
        guard let store else { return nil }
        // A pool that is cancelled gives nothing, and then nothing is needed.
        return try? await pool.run { _ throws(EideticError) in store.remove(for: request) }
    }

    /// Keeps a beginning whose rest may come later, also for who has left meanwhile.
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
                        message: "the beginning of \(request.url) was not kept: \(error)"
                    )
                }
                continuation.resume()
            }
        }
    }
}
