package import EideticCore

extension Downloader {
    /// Loads the resource of `request` into a file.
    ///
    /// The body is written as it arrives and is never in memory as a whole, which suits large bodies and many
    /// concurrent downloads. Equal requests for the same file share one download. If hooks transform bodies, the body
    /// is collected in memory all the same.
    ///
    /// The file is created under a temporary name and renamed when it is complete. Until then an existing file of that
    /// name is not modified. The downloader's own thread writes the file: a slow disk delays all downloads.
    ///
    /// If the connection breaks off and the server has sent a strong validator, the part is kept beside the file, with
    /// the suffix `.eidetic-partial`, and the next call with the same request and path continues it with `Range` and
    /// `If-Range`. It is removed after a day; at most 16 parts stay in a directory. Any other failure, and a
    /// cancellation, leaves no file behind.
    ///
    /// If the process is killed after the first mebibyte, the next call continues the part as well, unless the machine
    /// was started again; a file with the suffix `.eidetic-writing` describes it. A process that is killed leaves a
    /// file with the suffix `.tmp`.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - path: The path of the file, in an existing directory; an existing file is replaced.
    ///   - priority: The priority; a shared download has the highest priority of its callers.
    ///   - onProgress: A function that receives the progress after each chunk; it is called on a thread of the
    ///     downloader and must return soon.
    /// - Returns: The response without its body; with status 304 no file was written.
    /// - Throws: The errors of ``fetch(_:priority:onProgress:)``, and `diskFull`, `notFound`, `permissionDenied` or
    ///   `fileFailure` if the file cannot be written.
    @discardableResult
    nonisolated(nonsending) package func save(
        _ request: FetchRequest,
        to path: String,
        priority: LoadPriority = .normal,
        onProgress: (@Sendable (FetchProgress) -> Void)? = nil
    ) async throws(EideticError) -> FetchResponse {
        let context = JobContext(priority: priority)
        if configuration.requestModifier != nil {
            return try await fetch(modifying: request, filePath: path, context: context, onProgress: onProgress)
        }
        return try await result(of: join(request, filePath: path, context: context, onProgress: onProgress))
    }

    /// Writes a body that hooks have transformed to a file; returns the response without it.
    func write(_ response: FetchResponse, to path: String) async throws(EideticError) -> FetchResponse {
        var responseWithoutBody = response
        responseWithoutBody.bytes = []
        guard response.status != 304 else { return responseWithoutBody }
        try await pool.run { [fileSystem = configuration.fileSystem] context throws(EideticError) in
            do throws(SystemError) {
                let file = try BodyFile(path: path, fileSystem: fileSystem)
                try response.bytes.withUnsafeBufferPointer { bytes throws(SystemError) in
                    try file.write(UnsafeRawBufferPointer(bytes))
                }
                // After a cancellation another download may have written the file already.
                if !context.isCancelled { try file.commit() }
            } catch {
                throw EideticError(error)
            }
        }
        return responseWithoutBody
    }
}
