import EideticCore

/// An upload of a file.
public final class UploadTask: TransferTask, @unchecked Sendable {
    /// The path of the file to send.
    public var file: String { record.descriptor.uploadedFile ?? "" }

    /// Waits for the end of the upload.
    ///
    /// - Returns: The head of the response, of whatever status.
    /// - Throws: The error of the upload; `cancelled` if the calling task is cancelled, which does not cancel the
    ///   upload.
    nonisolated(nonsending) public var value: BackgroundURLSession.Response {
        get async throws(EideticError) {
            try await record.awaitOutcome()
        }
    }
}
