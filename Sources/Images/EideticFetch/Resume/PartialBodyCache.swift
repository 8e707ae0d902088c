import EideticCore

/// An asynchronous view of the stores of partial bodies: beside the file of a download, or in their directory.
struct PartialBodyCache: Sendable {
    /// The partial bodies in a directory; `nil` without one.
    let store: PartialBodyStore?
    let files: PartialFileStore
    let pool: WorkPool
    let workGroup: BackgroundWorkGroup

    /// Removes and returns the partial body of an earlier download.
    ///
    /// The request is the one that is sent; the path is that of the file for the body, `nil` for any other destination.
    func remove(for request: FetchRequest, filePath: String?) async -> PartialBody? {
        guard store != nil || filePath != nil, let work = try? workGroup.begin() else { return nil }
        defer { work.end() }
        // The operation fails only if the task is cancelled or the background time expires; the body is then not
        // needed, or left for later.
        return try? await pool.run { [store, files] _ throws(EideticError) in
            try work.waitUntilAdmitted()
            return filePath.flatMap { files.remove(for: $0, of: request) } ?? store?.remove(for: request)
        }
    }

    /// Stores a partial body, even if the task has been cancelled, but not if the background time has expired.
    func insert(_ partialBody: PartialBody, for request: FetchRequest, filePath: String?) async {
        guard store != nil || partialBody.file != nil, let work = try? workGroup.begin() else { return }
        await withCheckedContinuation { continuation in
            pool.enqueue {
                do throws(EideticError) {
                    try work.waitUntilAdmitted()
                    try insert(partialBody, for: request, filePath: filePath)
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

    /// Removes the file of a partial body that is not resumed.
    func discard(_ partialBody: PartialBody) async {
        guard let file = partialBody.file else { return }
        await withCheckedContinuation { continuation in
            pool.enqueue {
                file.discard()
                continuation.resume()
            }
        }
    }

    private func insert(
        _ partialBody: PartialBody,
        for request: FetchRequest,
        filePath: String?
    ) throws(EideticError) {
        guard partialBody.file != nil, let filePath else { return try store?.insert(partialBody, for: request) ?? () }
        do throws(SystemError) {
            try files.insert(partialBody, of: request, for: filePath)
        } catch {
            throw EideticError(error)
        }
    }
}
