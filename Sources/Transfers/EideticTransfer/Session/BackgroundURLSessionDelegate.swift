public import EideticCore

/// The receiver of a session's events, one at a time, on the main actor, in the order in which they happened.
///
/// The default implementations do nothing. An event is acknowledged when its method has returned; if the process ends
/// before that, the event is delivered again. A method that blocks delays later events, but none is lost.
@MainActor
public protocol BackgroundURLSessionDelegate: AnyObject, Sendable {
    /// Called when the file of a download is complete; precedes ``urlSession(_:task:didCompleteWithError:)``.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - task: The task; its response has the status, which may be an error status.
    ///   - path: The path of the file, which is removed when the method returns: move or read it before. If the process
    ///     is killed meanwhile, the event is delivered again, with the complete file.
    func urlSession(
        _ session: BackgroundURLSession,
        downloadTask task: DownloadTask,
        didFinishDownloadingTo path: String
    )

    /// Called when the response to an upload is complete; precedes ``urlSession(_:task:didCompleteWithError:)``.
    ///
    /// The path is that of the response's body. Its file is removed when the method returns.
    func urlSession(_ session: BackgroundURLSession, uploadTask task: UploadTask, didReceiveResponseBodyAt path: String)

    /// Called when a task has ended; its last event.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - task: The task.
    ///   - error: `nil` if the transfer is complete, whatever the status of the response; `cancelled` for a task that
    ///     was cancelled, also by a force quit of the application; `timedOut` after
    ///     ``BackgroundURLSession/Configuration/timeoutIntervalForResource``.
    func urlSession(_ session: BackgroundURLSession, task: TransferTask, didCompleteWithError error: EideticError?)

    /// Called while the file of an upload is sent, four times a second at most.
    func urlSession(
        _ session: BackgroundURLSession,
        uploadTask task: UploadTask,
        didSendBodyData progress: TransferProgress
    )

    /// Called while a download is received, four times a second at most.
    func urlSession(
        _ session: BackgroundURLSession,
        downloadTask task: DownloadTask,
        didWriteData progress: TransferProgress
    )

    /// Called when all events that were waiting for this process have been handled, and after a wake even if there was
    /// none.
    ///
    /// By default `application(_:handleEventsForBackgroundURLSession:)` returns at this time.
    func urlSessionDidFinishEvents(forBackgroundURLSession session: BackgroundURLSession)

    /// Called once, after the last event of the session.
    ///
    /// - Parameters:
    ///   - session: The session, whose identifier may be used for a new one.
    ///   - error: `nil` after a request of the application; `inUse` if another process has the session; `notFound` if
    ///     the transfer process does not run and is not installed.
    func urlSession(_ session: BackgroundURLSession, didBecomeInvalidWithError error: EideticError?)
}

extension BackgroundURLSessionDelegate {
    /// Does nothing: the file is removed.
    public func urlSession(
        _ session: BackgroundURLSession,
        downloadTask task: DownloadTask,
        didFinishDownloadingTo path: String
    ) {}
    /// Does nothing: the file is removed.
    public func urlSession(
        _ session: BackgroundURLSession,
        uploadTask task: UploadTask,
        didReceiveResponseBodyAt path: String
    ) {}
    /// Does nothing.
    public func urlSession(
        _ session: BackgroundURLSession,
        task: TransferTask,
        didCompleteWithError error: EideticError?
    ) {}
    /// Does nothing.
    public func urlSession(
        _ session: BackgroundURLSession,
        uploadTask task: UploadTask,
        didSendBodyData progress: TransferProgress
    ) {}
    /// Does nothing.
    public func urlSession(
        _ session: BackgroundURLSession,
        downloadTask task: DownloadTask,
        didWriteData progress: TransferProgress
    ) {}
    /// Does nothing.
    public func urlSessionDidFinishEvents(forBackgroundURLSession session: BackgroundURLSession) {}
    /// Does nothing.
    public func urlSession(_ session: BackgroundURLSession, didBecomeInvalidWithError error: EideticError?) {}
}
