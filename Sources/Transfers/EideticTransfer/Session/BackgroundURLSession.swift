public import EideticCore
public import FoundationEssentials

/// Downloads and uploads that continue in a separate process while the application is suspended or has ended.
///
/// ```swift
/// let session = try BackgroundURLSession(configuration: .init(identifier: "books"), delegate: delegate)
/// try session.downloadTask(with: .init(url: "https://example.org/book.epub")).resume()
/// ```
///
/// A restarted application, even after a crash or a kill, creates the session with the same identifier, and receives
/// its tasks and the events that it has not handled. Until then they wait in the transfer process. Each event is
/// delivered at least once; it is acknowledged when the delegate's method has returned.
///
/// The process retains a session until it is invalidated. All functions may be called on any thread, and none blocks.
public final class BackgroundURLSession: Sendable, ExistingInstance {
    /// The configuration that the session was created with.
    public let configuration: Configuration
    let core: SessionCore

    /// Creates the session with an identifier, or returns it if this process has it already.
    ///
    /// An existing session keeps its first configuration and delegate.
    ///
    /// - Parameters:
    ///   - configuration: The identifier and the settings of the session.
    ///   - delegate: The receiver of events, which is retained; `nil`, the default, for ``events`` alone.
    /// - Throws: `invalidArgument` if a setting is out of its range. If the transfer process refuses the session,
    ///   ``allTasks`` throws the reason, and the session is invalidated with it.
    public convenience init(
        configuration: Configuration,
        delegate: (any BackgroundURLSessionDelegate)? = nil
    ) throws(EideticError) {
        try configuration.validate()
        self.init(existing: SessionRegistry.shared.session(for: configuration, delegate: delegate))
    }

    /// Creates a session that is not connected.
    init(
        configuration: Configuration,
        delegate: (any BackgroundURLSessionDelegate)?,
        time: any TimeSource = SystemTime(),
        onInvalidation: @escaping @Sendable (SessionCore) -> Void
    ) {
        self.configuration = configuration
        core = SessionCore(
            configuration: configuration,
            delegate: delegate,
            time: time,
            onInvalidation: onInvalidation
        )
        core.withState { $0.session = self }
    }

    /// Creates a session beside those of the process, with its own way to the transfer process.
    package convenience init(
        configuration: Configuration,
        delegate: (any BackgroundURLSessionDelegate)?,
        provider: any TransferServiceProvider,
        time: any TimeSource = SystemTime()
    ) {
        self.init(configuration: configuration, delegate: delegate, time: time) { _ in }
        Task { [core] in await core.run(with: provider) }
    }

    /// Waits until the transfer process has confirmed the acknowledgements of all events that were handled.
    package func waitUntilAcknowledged() async { await core.waitUntilAcknowledged() }

    /// Sets the function that returns the path to which the file of a task is moved; `nil` if the consumers move it.
    package func setDestination(_ destination: @escaping @Sendable (TransferTask) -> String?) {
        core.withState { $0.destination = destination }
    }

    /// Ends the connection and the delivery of events as the end of the process does.
    package func disconnect() { core.disconnect() }

    /// The identifier of the session.
    public var identifier: String { configuration.identifier }

    /// The tasks of the session that have not ended, or whose end has not been handled.
    ///
    /// - Throws: `notFound` if the transfer process does not run and is not installed; `inUse` if another process has
    ///   the session; `limitExceeded` if the application has too many sessions; `cancelled` if the session is
    ///   invalidated or the calling task cancelled.
    nonisolated(nonsending) public var allTasks: [TransferTask] {
        get async throws(EideticError) {
            try await core.waitUntilOpened()
            return core.tasks
        }
    }

    /// Invalidates the session when its tasks have ended and their events are handled; no task can be added.
    public func finishTasksAndInvalidate() { core.finishTasksAndInvalidate() }

    /// Cancels all tasks, and invalidates the session when their events are handled.
    public func invalidateAndCancel() { core.invalidateAndCancel() }

    /// Creates a download; ``TransferTask/resume()`` starts it.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - taskDescription: A text that is kept with the task, at most 3,584 bytes of UTF-8; `nil` by default.
    /// - Returns: The task.
    /// - Throws: `invalidArgument` for a request that cannot be sent; `refused` if the session is invalidated, or
    ///   its error after the delegate was told of it.
    public func downloadTask(with request: Request, taskDescription: String? = nil) throws(EideticError) -> DownloadTask
    {
        let record = try makeRecord(for: request, text: taskDescription)
        return try core.add(DownloadTask(record: record))
    }

    /// Creates a download that resumes a cancelled one from its resume data.
    ///
    /// The received part is used if the transfer process still has it, and the server's file is unchanged; otherwise
    /// the download starts from the beginning.
    ///
    /// - Parameters:
    ///   - data: The data of ``DownloadTask/cancelByProducingResumeData()``.
    ///   - taskDescription: A text that is kept with the task, at most 3,584 bytes of UTF-8; `nil` by default.
    /// - Returns: The task.
    /// - Throws: `invalidArgument` for invalid resume data; `refused` if the session is invalidated, or its error after
    ///   the delegate was told of it.
    public func downloadTask(
        withResumeData data: some ContiguousBytes,
        taskDescription: String? = nil
    ) throws(EideticError) -> DownloadTask {
        let resumption = try ResumableRequest(data.withUnsafeBytes { Array($0) })
        let record = try makeRecord(for: resumption.request, text: taskDescription) { $0.resumeData = resumption.data }
        return try core.add(DownloadTask(record: record))
    }

    /// Creates an upload of a file; ``TransferTask/resume()`` starts it.
    ///
    /// The file is copied when the task is handed over, and may be changed or removed after that.
    ///
    /// - Parameters:
    ///   - request: The request; its method is `PUT` if it is `GET`.
    ///   - path: The absolute path of a regular file.
    ///   - taskDescription: A text that is kept with the task, at most 3,584 bytes of UTF-8; `nil` by default.
    /// - Returns: The task.
    /// - Throws: `invalidArgument` for a request that cannot be sent; `refused` if the session is invalidated, or
    ///   its error after the delegate was told of it.
    public func uploadTask(
        with request: Request,
        fromFile path: String,
        taskDescription: String? = nil
    ) throws(EideticError) -> UploadTask {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw EideticError(.invalidArgument, message: "\"\(path)\" is not an absolute path")
        }
        let record = try makeRecord(for: request, text: taskDescription) { $0.uploadedFile = path }
        return try core.add(UploadTask(record: record))
    }

    private func makeRecord(
        for request: Request,
        text: String?,
        change: (inout TaskDescriptor) -> Void = { _ in }
    ) throws(EideticError) -> TaskRecord {
        try request.validate()
        guard (text?.utf8.count ?? 0) <= TaskNote.maximumTextLength else {
            let message = "a task description has at most \(TaskNote.maximumTextLength) bytes"
            throw EideticError(.invalidArgument, message: message)
        }
        var descriptor = TaskDescriptor(identifier: .random(in: 1...UInt64(Int64.max)), request: request)
        descriptor.text = text
        change(&descriptor)
        return TaskRecord(descriptor: descriptor, session: core)
    }
}

/// A class whose initializer can return an instance that exists.
protocol ExistingInstance {}

extension ExistingInstance {
    init(existing instance: Self) { self = instance }
}
