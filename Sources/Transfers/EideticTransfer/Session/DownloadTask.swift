public import EideticCore

/// A download to a file.
public final class DownloadTask: TransferTask, @unchecked Sendable {
    /// Cancels the task, and returns the data with which another task can resume it.
    ///
    /// - Returns: The data for ``BackgroundURLSession/downloadTask(withResumeData:taskDescription:)``; `nil` if the
    ///   download cannot be resumed, because no bytes were received, or the server sent neither a strong validator nor
    ///   a date.
    nonisolated(nonsending) public func cancelByProducingResumeData() async -> [UInt8]? {
        record.session?.cancel(self, keepsResumeData: true)
        guard let data = try? await record.resumeData.value() else { return nil }
        return ResumableRequest(request: originalRequest, data: data).bytes
    }

    /// Waits for the end of the download, and moves the file to a path.
    ///
    /// The file is moved before the session's delegate is called; its `didFinishDownloading` receives the new path. A
    /// file at the path is replaced. If the file cannot be moved, its event is not acknowledged, and is delivered again
    /// to the next process. After a restart, call this function for the tasks of ``BackgroundURLSession/allTasks``.
    ///
    /// - Parameter path: An absolute path in a directory that exists.
    /// - Returns: The head of the response, of whatever status.
    /// - Throws: The error of the download, or of the file's move; `cancelled` if the calling task is cancelled, which
    ///   does not cancel the download.
    @discardableResult
    nonisolated(nonsending) public func value(
        movingFileTo path: String
    ) async throws(EideticError) -> BackgroundURLSession.Response {
        guard path.hasPrefix("/") else {
            throw EideticError(.invalidArgument, message: "\"\(path)\" is not an absolute path")
        }
        return try await record.awaitOutcome(movingFileTo: path)
    }
}
