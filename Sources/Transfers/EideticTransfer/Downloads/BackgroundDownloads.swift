public import EideticCore
import EideticHTTP

/// A pipeline's downloads that continue when the application is suspended or has ended, in a separate session.
///
/// ```swift
/// configuration.transfers = try BackgroundDownloads(identifier: "images")
/// ```
///
/// Create it at each start of the application: finished downloads are then passed to the pipeline.
public final class BackgroundDownloads: BackgroundDownloadProvider, BackgroundDownloader {
    private typealias Receiver = @Sendable (BackgroundDownload) async -> Bool

    /// The session, whose events belong to this object.
    public let session: BackgroundURLSession
    /// The service for `ImagePipeline.Configuration.transfers`.
    public var service: BackgroundDownloadService { BackgroundDownloadService(self) }
    private let receiver = Guarded<Receiver?>(nil)
    private let receiverChanges = WorkSignal()
    /// The tasks that have not completed, and whose download was passed to the receiver.
    private let passed = Guarded<Set<UInt64>>([])

    /// Creates the downloads of a session; returns without waiting for the transfer process.
    ///
    /// - Parameter configuration: The configuration of a session that nothing else uses.
    /// - Throws: `invalidArgument` if a setting is out of its range.
    public convenience init(configuration: BackgroundURLSession.Configuration) throws(EideticError) {
        self.init(session: try BackgroundURLSession(configuration: configuration))
    }

    /// Creates the downloads of a session with an identifier, and the defaults of a session.
    ///
    /// - Throws: `invalidArgument` for an invalid identifier.
    public convenience init(identifier: String) throws(EideticError) {
        try self.init(configuration: .init(identifier: identifier))
    }

    /// Creates the downloads of a session that has no delegate.
    package init(session: BackgroundURLSession) {
        self.session = session
        let events = session.events
        Task { [weak self] in
            for await event in events {
                // The sequence ends without another request: the event stays with the session.
                guard let self else { return }
                await handle(event)
            }
        }
    }

    /// Hands a download over; has no effect if one with the same key is active.
    ///
    /// - Throws: `limitExceeded` for a key of more than 3,583 bytes, or too many downloads; the errors of
    ///   ``TransferTask/waitUntilAccepted()``.
    package func download(_ request: BackgroundDownloadRequest) async throws(EideticError) {
        var transfer = try BackgroundURLSession.Request(url: request.url)
        for field in request.headers { transfer.headers.add(field.value, for: field.name) }
        let text = request.key == transfer.url ? "u" : "k\(request.key)"
        guard text.utf8.count <= TaskNote.maximumTextLength else {
            throw EideticError(.limitExceeded, message: "\(request.url): the key is too long to be handed over")
        }
        let tasks = try await session.allTasks
        if let active = tasks.first(where: { isActive($0, with: request.key) }) {
            return try await active.waitUntilAccepted()
        }
        let task = try session.downloadTask(with: transfer, taskDescription: text)
        task.resume()
        try await task.waitUntilAccepted()
    }

    /// Returns whether a task has a key, and its download is still to be passed to the receiver.
    private func isActive(_ task: TransferTask, with key: String) -> Bool {
        guard Self.key(of: task) == key, task.state != .canceling, task.state != .completed else { return false }
        return !passed.withLock { $0.contains(task.taskIdentifier) }
    }

    package func setReceiver(_ receiver: @escaping @Sendable (BackgroundDownload) async -> Bool) {
        self.receiver.withLock { $0 = receiver }
        receiverChanges.send()
    }

    /// Waits until a download that has ended is handled by the receiver; connects to the transfer process first.
    package func waitForArrival(of key: String) async -> Bool {
        guard let tasks = try? await session.allTasks,
            let task = tasks.first(where: { $0.record.current.hasEnded && Self.key(of: $0) == key })
        else { return false }
        await session.core.waitUntilHandled(task.taskIdentifier)
        return !Task.isCancelled
    }

    /// The key of a task; its description is the key, or a sign that the key is the URL.
    private static func key(of task: TransferTask) -> String? {
        guard let text = task.taskDescription else { return nil }
        return text == "u" ? task.originalRequest.url : text.rest(behind: "k").map(String.init)
    }
}

// MARK: Events
extension BackgroundDownloads {
    private func handle(_ event: BackgroundURLSession.Event) async {
        switch event {
        case .didFinishDownloading(let task, let path):
            let headers = task.response?.headers.fields.map { (name: $0.name, value: $0.value) } ?? []
            let status = task.response?.statusCode ?? 0
            await pass(.success(.init(path: path, status: status, headers: headers)), of: task)
        case .didComplete(let task, let error):
            if let error { await pass(.failure(error), of: task) }
            // A task whose file cannot be handed over does not complete, and has nothing more to pass.
            if task.state == .completed { passed.withLock { _ = $0.remove(task.taskIdentifier) } }
        default: break
        }
    }

    /// Passes a download to a receiver that handles it; until there is one, the event is not acknowledged.
    private func pass(_ result: Result<BackgroundDownload.Response, EideticError>, of task: TransferTask) async {
        guard let key = Self.key(of: task) else { return }
        let download = BackgroundDownload(key: key, result: result)
        // A request that comes while the receiver works is one for another download.
        passed.withLock { _ = $0.insert(task.taskIdentifier) }
        var changes = receiverChanges.makeIterator()
        while true {
            if let receiver = receiver.withLock({ $0 }), await receiver(download) { return }
            guard await changes.next() != nil else { return }
        }
    }
}
