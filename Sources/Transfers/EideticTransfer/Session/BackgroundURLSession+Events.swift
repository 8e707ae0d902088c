public import EideticCore

extension BackgroundURLSession {
    /// An event of a session.
    public enum Event: Sendable {
        /// The file of a download is complete; it is removed when the next event is requested.
        case didFinishDownloading(DownloadTask, path: String)
        /// The body of the response to an upload is complete; its file is removed when the next event is requested.
        case didReceiveResponseBody(UploadTask, path: String)
        /// A task has ended; its last event.
        case didComplete(TransferTask, error: EideticError?)
        /// A part of an upload was sent.
        case didSendBodyData(UploadTask, TransferProgress)
        /// A part of a download was received.
        case didWriteData(DownloadTask, TransferProgress)
        /// All events that were waiting for this process have been handled.
        case didFinishEvents
        /// The last event of the session.
        case didBecomeInvalid(error: EideticError?)
    }

    /// The events of the session, as an alternative to the delegate.
    ///
    /// An event is acknowledged when the consumer requests the next one. If the loop ends or its task is cancelled
    /// before that, the event is delivered again, unless a delegate or another consumer has handled it. Each access
    /// returns a new sequence, which begins with the next event, and ends with `didBecomeInvalid` or when the consuming
    /// task is cancelled.
    public var events: Events { Events(handle: .init(core.addMailbox())) }

    /// An asynchronous sequence of events.
    public struct Events: AsyncSequence, Sendable {
        let handle: EventMailbox.Handle

        /// Returns an iterator; each event of a sequence is delivered to only one of its iterators.
        public func makeAsyncIterator() -> Iterator { Iterator(reader: .init(handle)) }

        /// An iterator over events.
        public struct Iterator: AsyncIteratorProtocol {
            let reader: EventMailbox.Reader

            /// Acknowledges the previous event, and waits for the next one.
            public func next() async -> Event? { await reader.next() }
        }
    }
}

extension BackgroundURLSession.Event {
    /// Returns the event of a complete file.
    static func file(at path: String, of task: TransferTask) -> Self? {
        switch task {
        case let task as DownloadTask: .didFinishDownloading(task, path: path)
        case let task as UploadTask: .didReceiveResponseBody(task, path: path)
        default: nil
        }
    }

    static func progress(of task: TransferTask) -> Self? {
        switch task {
        case let task as DownloadTask: .didWriteData(task, task.progress)
        case let task as UploadTask: .didSendBodyData(task, task.progress)
        default: nil
        }
    }

    @MainActor
    func call(_ delegate: any BackgroundURLSessionDelegate, of session: BackgroundURLSession) {
        switch self {
        case .didFinishDownloading(let task, let path):
            delegate.urlSession(session, downloadTask: task, didFinishDownloadingTo: path)
        case .didReceiveResponseBody(let task, let path):
            delegate.urlSession(session, uploadTask: task, didReceiveResponseBodyAt: path)
        case .didComplete(let task, let error): delegate.urlSession(session, task: task, didCompleteWithError: error)
        case .didSendBodyData(let task, let progress):
            delegate.urlSession(session, uploadTask: task, didSendBodyData: progress)
        case .didWriteData(let task, let progress):
            delegate.urlSession(session, downloadTask: task, didWriteData: progress)
        case .didFinishEvents: delegate.urlSessionDidFinishEvents(forBackgroundURLSession: session)
        case .didBecomeInvalid(let error): delegate.urlSession(session, didBecomeInvalidWithError: error)
        }
    }
}
