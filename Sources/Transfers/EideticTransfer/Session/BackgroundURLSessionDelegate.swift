public import EideticCore

/// The receiver of a session's events, one at a time, on the main actor, in the order in which they happened.
///
/// The default implementation of each method does nothing. An event is acknowledged when its method has returned; if
/// the process ends before, the event comes again. A method that blocks for long delays the others, and loses none.
@MainActor
public protocol BackgroundURLSessionDelegate: AnyObject, Sendable {
    /// Called when the file of a download is complete; precedes ``urlSession(_:task:didCompleteWithError:)``.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - task: The task; its response has the status, which may be that of a failure.
    ///   - path: The path of the file, which is removed when the method returns: move it, or read it. After a kill
    ///     between the two, the event comes again with the whole file.
    func urlSession(
        _ session: BackgroundURLSession,
        downloadTask task: DownloadTask,
        didFinishDownloadingTo path: String
    )

    /// Called when the response to an upload is complete; precedes ``urlSession(_:task:didCompleteWithError:)``.
    ///
    /// The path is that of the response's body, and has the meaning of that of a download.
    func urlSession(_ session: BackgroundURLSession, uploadTask task: UploadTask, didReceiveResponseBodyAt path: String)

    /// Called when a task has ended; its last event.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - task: The task.
    ///   - error: `nil` if the transfer is complete, whatever the status of the response; `cancelled` for a task that
    ///     was cancelled, also by a forced end of the application; `timedOut` after
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

    /// Called when all events that were waiting for this process have been handled; after a wake also if none was.
    ///
    /// An application that stored the completion handler of
    /// `application(_:handleEventsForBackgroundURLSession:completionHandler:)` calls it here.
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
