public import EideticCore

/// A transfer of a ``BackgroundURLSession``: a ``DownloadTask`` or an ``UploadTask``.
///
/// A task is created suspended; ``resume()`` hands it over to the transfer process.
public class TransferTask: @unchecked Sendable {
    // Safe to send: the only stored property is a constant of a Sendable type, and the subclasses, all of which are in
    // this module, add none.
    let record: TaskRecord

    init(record: TaskRecord) { self.record = record }

    /// The states of a task.
    public enum State: String, Sendable, Hashable {
        /// Created, or suspended by ``TransferTask/suspend()``.
        case suspended
        /// Handed over: transferring, or waiting for the reason in ``TransferTask/waitingReason``.
        case running
        /// Cancelled, but its last event was not handled yet.
        case canceling
        /// Ended, with or without an error.
        case completed
    }

    /// The number that identifies the task in its session; it survives restarts.
    public var taskIdentifier: UInt64 { record.descriptor.identifier }

    /// The number of the transfer in the transfer process; `nil` until it has stored the task.
    package var transferNumber: UInt64? { record.current.transfer?.rawValue }

    /// The text that the task was created with; it survives restarts.
    public var taskDescription: String? { record.descriptor.text }

    /// The request; after a restart its header fields are missing.
    public var originalRequest: BackgroundURLSession.Request { record.descriptor.request }

    /// The state of the task.
    public var state: State {
        let current = record.current
        if current.isCompleted { return .completed }
        switch current.goal {
        case .absent, .paused: return .suspended
        case .running: return .running
        case .cancelled: return .canceling
        }
    }

    /// The time before which the task does not start; `nil`, the default, starts it at once.
    ///
    /// Set it before ``resume()``; later changes have no effect. `timeoutIntervalForResource` counts from this time on.
    /// After a restart it is `nil` if it has passed.
    public var earliestBeginDate: Timestamp? {
        get { record.current.earliestBegin }
        set { record.update { $0.earliestBegin = newValue } }
    }

    /// The number of bytes so far; updated at most four times a second.
    public var progress: TransferProgress { record.current.progress }

    /// The head of the response; `nil` before the task has ended.
    public var response: BackgroundURLSession.Response? { record.current.response }

    /// The reason why the task does not transfer at the moment, in one readable line; `nil` if it does, or has ended.
    ///
    /// Examples: no network, the time of the next attempt, the connection limit of a host. The access asks the transfer
    /// process.
    nonisolated(nonsending) public var waitingReason: String? {
        get async throws(EideticError) { try await record.session?.waitingReason(of: self) }
    }

    /// Hands the task over to the transfer process, or continues it after ``suspend()``.
    ///
    /// Returns at once; ``waitUntilAccepted()`` waits until the task would survive the end of this process.
    public func resume() { record.session?.setGoal(.running, of: self) }

    /// Suspends the task; the bytes transferred so far are kept.
    public func suspend() { record.session?.suspend(self) }

    /// Cancels the task; it ends with the error `cancelled`, unless it has ended before.
    public func cancel() { record.session?.cancel(self) }

    /// Waits until the transfer process has stored the task, which then survives the end of this process.
    ///
    /// - Throws: `limitExceeded` if a quota of the application is used up; `notFound` and `permissionDenied` for the
    ///   file of an upload; `cancelled` if the calling task is cancelled, or the transfer task before it was stored.
    nonisolated(nonsending) public func waitUntilAccepted() async throws(EideticError) {
        try await record.accepted.value()
    }
}

/// The number of bytes of a transfer.
public struct TransferProgress: Sendable, Hashable {
    /// The number of bytes sent or received, including those kept from earlier attempts.
    public var completed: Int64

    /// The total number of bytes; `nil` if it is unknown.
    public var total: Int64?

    /// Creates a progress.
    public init(completed: Int64, total: Int64? = nil) {
        self.completed = completed
        self.total = total
    }
}

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
