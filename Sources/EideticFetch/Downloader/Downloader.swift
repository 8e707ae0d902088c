public import EideticCore
import Synchronization

/// Loads bytes over HTTP and HTTPS.
///
/// Equal requests that are under way at the same time share one download (``FetchRequest``). Each caller can leave by
/// cancelling its task; the last one out ends the download. All may be called on any thread.
///
/// - SeeAlso: RFC 9110 (HTTP), RFC 9112 (HTTP/1.1), RFC 9113 (HTTP/2).
public final class Downloader: Sendable {
    /// What holds for all downloads, as it was given.
    public let configuration: Configuration

    let scheduler: TransferScheduler
    private let shared = SharedWork<FetchRequest, FetchProgress, FetchResponse>()
    private let lastID = Atomic<UInt64>(0)

    /// Creates a downloader with its own thread, connections and queue.
    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        let options = EngineOptions(caFile: configuration.caFile, userAgent: configuration.userAgent)
        let queue = TransferQueue(
            maximum: max(1, configuration.maximumConcurrent),
            maximumPerHost: max(1, configuration.maximumPerHost),
            order: configuration.executionOrder,
            patience: configuration.patience
        )
        scheduler = TransferScheduler(queue, TransferEngine(options), time: configuration.time)
    }

    /// Loads what `request` names.
    ///
    /// An answer with status 304 is handed out as well, for callers who sent a condition along.
    ///
    /// - Parameters:
    ///   - request: What to load. All of it is the identity by which downloads are shared.
    ///   - priority: How urgent it is; a shared download is as urgent as its most urgent caller asks.
    ///   - onProgress: Told of every piece that came, on a thread of the downloader; it must return soon.
    /// - Returns: The complete answer.
    /// - Throws: `cancelled` as soon as the calling task is; otherwise what went wrong, with host and port.
    nonisolated(nonsending) public func fetch(
        _ request: FetchRequest,
        priority: LoadPriority = .normal,
        onProgress: (@Sendable (FetchProgress) -> Void)? = nil
    ) async throws(EideticError) -> FetchResponse {
        try await fetch(request, context: WorkContext(priority: priority), onProgress: onProgress)
    }

    /// Loads what `request` names, as urgently as `context` says at any time.
    nonisolated(nonsending) package func fetch(
        _ request: FetchRequest,
        context: WorkContext,
        onProgress: (@Sendable (FetchProgress) -> Void)? = nil
    ) async throws(EideticError) -> FetchResponse {
        try request.headers.validate()
        return try await shared.value(for: request, context: context, onProgress: onProgress) {
            [self] job async throws(EideticError) -> FetchResponse in
            try await load(request, job)
        }
    }

    /// The most downloads at once.
    ///
    /// May be changed while downloads run; those above a lower limit are not stopped.
    public var maximumConcurrent: Int {
        get { scheduler.read { $0.maximum } }
        set { scheduler.change { $0.maximum = max(1, newValue) } }
    }

    /// The most downloads at once from one origin.
    ///
    /// May be changed while downloads run.
    public var maximumPerHost: Int {
        get { scheduler.read { $0.maximumPerHost } }
        set { scheduler.change { $0.maximumPerHost = max(1, newValue) } }
    }

    /// Which of equally urgent downloads starts first.
    ///
    /// May be changed while downloads wait.
    public var executionOrder: ExecutionOrder {
        get { scheduler.read { $0.order } }
        set { scheduler.change { $0.order = newValue } }
    }

    /// How many downloads wait for a slot, and how many run.
    public var counts: (waiting: Int, running: Int) { scheduler.counts }

    func nextID() -> UInt64 { lastID.add(1, ordering: .relaxed).newValue }
}

extension Downloader {
    typealias Job = SharedWork<FetchRequest, FetchProgress, FetchResponse>.Job
}
