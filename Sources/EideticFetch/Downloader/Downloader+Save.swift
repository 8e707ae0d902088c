public import EideticCore

extension Downloader {
    /// Loads what `request` names into a file.
    ///
    /// The body goes to the file while it comes, and is never in memory as a whole: for large bodies, and for many at once.
    /// Equal requests for the same file share one download. Where hooks look at bodies they are collected all the same.
    ///
    /// The file has its name once it is complete. Until then one that has the name already stays as it is, and of a
    /// download that fails nothing is left. The downloader's own thread writes: a disk that holds it up holds up all its
    /// downloads.
    ///
    /// - Parameters:
    ///   - request: What to load.
    ///   - path: The file, in a directory that is there; one of that name is replaced.
    ///   - priority: How urgent it is; a shared download is as urgent as its most urgent caller asks.
    ///   - onProgress: Told of every piece that came, on a thread of the downloader; it must return soon.
    /// - Returns: The answer without its bytes; with status 304 no file was written.
    /// - Throws: As ``fetch(_:priority:onProgress:)`` does, and `diskFull`, `notFound`, `permissionDenied` or
    ///   `fileFailure` where the file cannot be written.
    @discardableResult
    nonisolated(nonsending) public func save(
        _ request: FetchRequest,
        to path: String,
        priority: LoadPriority = .normal,
        onProgress: (@Sendable (FetchProgress) -> Void)? = nil
    ) async throws(EideticError) -> FetchResponse {
        if configuration.requestModifier != nil {
            return try await fetch(
                modifying: request,
                filePath: path,
                context: JobContext(priority: priority),
                onProgress: onProgress
            )
        }
        return try await result(
            of: join(request, filePath: path, context: JobContext(priority: priority), onProgress: onProgress)
        )
    }

    /// Writes a body that hooks have looked at; gives the answer without it.
    func write(_ response: FetchResponse, to path: String) async throws(EideticError) -> FetchResponse {
        var responseWithoutBody = response
        responseWithoutBody.bytes = []
        guard response.status != 304 else { return responseWithoutBody }
        try await pool.run { [files = configuration.fileSystem] context throws(EideticError) in
            do throws(SystemError) {
                let file = try BodyFile(path: path, fileSystem: files)
                try response.bytes.withUnsafeBufferPointer { bytes throws(SystemError) in
                    try file.write(UnsafeRawBufferPointer(bytes))
                }
                // Who left may have saved something else there by now.
                if !context.isCancelled { try file.commit() }
            } catch {
                throw EideticError(error)
            }
        }
        return responseWithoutBody
    }
}
