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

    /// Keeps what came before `error`, where the rest may come later.
    func keep(_ partial: PartialBody?, of request: FetchRequest, after error: EideticError) async {
        guard let store, let partial, error.isTransient else { return }
        do throws(EideticError) {
            try await pool.run { _ throws(EideticError) in
                do throws(SystemError) {
                    try store.write(partial, for: request)
                } catch {
                    throw EideticError(error)
                }
            }
        } catch {
            Log.write(.warning, .fetch, "the beginning of \(request.url) was not kept: \(error.message)")
        }
    }
}
