import EideticCore

/// Keeps beginnings of bodies on disk without blocking who asks; without a directory it keeps none.
struct PartialKeeper: Sendable {
    let store: PartialStore?
    let pool: WorkPool

    init(_ store: PartialStore?, _ pool: WorkPool) {
        self.store = store
        self.pool = pool
    }

    /// What an earlier download of `request` left.
    func take(_ request: FetchRequest) async -> PartialBody? {
        guard let store else { return nil }
        // A pool that is cancelled gives nothing, and then nothing is needed.
        return try? await pool.run { _ throws(EideticError) in store.take(request) }
    }

    /// Keeps a beginning whose rest may come later, also for who has left meanwhile.
    func keep(_ partial: PartialBody, of request: FetchRequest) async {
        guard let store else { return }
        await withCheckedContinuation { continuation in
            pool.enqueue {
                do throws(SystemError) {
                    try store.write(partial, for: request)
                } catch {
                    Log.write(.warning, .fetch, "the beginning of \(request.url) was not kept: \(error)")
                }
                continuation.resume()
            }
        }
    }
}
