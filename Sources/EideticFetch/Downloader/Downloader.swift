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

    /// The URLs that failed for good and are not asked again for a while.
    public let failures: FailureList

    let scheduler: DownloadScheduler
    let state: DownloaderState
    let partialBodies: PartialBodyCache
    let pool = WorkPool(name: "eidetic-fetched", maximumThreadCount: 2)
    /// The fields of every request.
    let commonHeaders: HTTPHeaders
    /// What is wrong with the configuration's own fields.
    private let invalidField: EideticError?
    private let shared = Shared()
    private let lastID = Atomic<UInt64>(0)

    /// Creates a downloader with its own thread, connections and queue.
    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        let types = (configuration.acceptedTypes + ["*/*;q=0.8"]).joined(separator: ",")
        let defaults: HTTPHeaders = ["Accept": types]
        let commonHeaders = defaults.merging(configuration.headers)
        self.commonHeaders = commonHeaders
        var fields = commonHeaders
        fields.add("User-Agent", for: configuration.userAgent)
        invalidField = fields.validationError
        let failures = FailureList(policy: configuration.failurePolicy, time: configuration.time)
        let state = DownloaderState(configuration)
        var options = EngineOptions(configuration)
        options.onNetworkChange = {
            failures.removeAll()
            state.resetAfterNetworkChange()
        }
        self.failures = failures
        self.state = state
        scheduler = DownloadScheduler(configuration: configuration, options: options)
        partialBodies = PartialBodyCache(store: PartialBodyStore(configuration), pool: pool)
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
        if configuration.requestModifier != nil {
            return try await fetch(
                modifying: request,
                filePath: nil,
                context: JobContext(priority: priority),
                onProgress: onProgress
            )
        }
        return try await result(
            of: join(request, filePath: nil, context: JobContext(priority: priority), onProgress: onProgress)
        )
    }

    /// Loads what `request` names, as urgently as `context` says at any time.
    nonisolated(nonsending) package func fetch(
        _ request: FetchRequest,
        context: JobContext,
        onProgress: (@Sendable (FetchProgress) -> Void)? = nil
    ) async throws(EideticError) -> FetchResponse {
        if configuration.requestModifier != nil {
            return try await fetch(modifying: request, filePath: nil, context: context, onProgress: onProgress)
        }
        return try await result(of: join(request, filePath: nil, context: context, onProgress: onProgress))
    }

    /// Loads what the modifier makes of `request`.
    @inline(never)
    nonisolated(nonsending) func fetch(
        modifying request: FetchRequest,
        filePath: String?,
        context: JobContext,
        onProgress: (@Sendable (FetchProgress) -> Void)?
    ) async throws(EideticError) -> FetchResponse {
        var request = request
        if let modify = configuration.requestModifier { request = try await modify(request) }
        return try await result(of: join(request, filePath: filePath, context: context, onProgress: onProgress))
    }

    /// Begins the download, or joins the one that is under way; a function of its own for the sake of memory, as
    /// `SharedWork/join` says.
    @inline(never)
    func join(
        _ request: FetchRequest,
        filePath: String?,
        context: JobContext,
        onProgress: (@Sendable (FetchProgress) -> Void)?
    ) throws(EideticError) -> Shared.Subscriber {
        try validate(request)
        let key = DownloadKey(request: request, filePath: filePath)
        return shared.join(key, context: context, onProgress: onProgress) { [self, key] job, finish in
            start(key, job: job, finish: finish)
        }
    }

    @inline(__always)
    nonisolated(nonsending) func result(
        of subscriber: Shared.Subscriber
    ) async throws(EideticError) -> FetchResponse {
        await shared.wait(for: subscriber)
        return try reportResult(of: subscriber)
    }

    /// Hands the outcome out; a function of its own for the same reason.
    @inline(never)
    private func reportResult(of subscriber: Shared.Subscriber) throws(EideticError) -> FetchResponse {
        let result = subscriber.outcome
        configuration.onFinish?(subscriber.key.request, result)
        return try result.get()
    }

    /// Refuses what cannot be asked for.
    func validate(_ request: FetchRequest) throws(EideticError) {
        if let invalidField { throw invalidField }
        try request.validate()
    }

    /// Downloads that are under way, shared or not.
    package var jobCount: Int { shared.activeJobCount }

    func nextID() -> UInt64 { lastID.add(1, ordering: .relaxed).newValue }
}

extension Downloader {
    typealias Shared = TaskCoalescer<DownloadKey, FetchProgress, FetchResponse>
    typealias Job = Shared.Job
}
