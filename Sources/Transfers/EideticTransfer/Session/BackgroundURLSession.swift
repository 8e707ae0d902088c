public import EideticCore

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
}

/// A class whose initializer can return an instance that exists.
protocol ExistingInstance {}

extension ExistingInstance {
    init(existing instance: Self) { self = instance }
}
