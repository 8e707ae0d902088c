public import EideticCore
import EideticHTTP
import Synchronization

/// A client that loads bytes over HTTP and HTTPS.
///
/// Equal requests (``FetchRequest``) that are in progress at the same time share one download. A caller leaves by
/// cancelling its task, and the download is cancelled with its last caller. All members may be called on any thread.
///
/// - SeeAlso: RFC 9110 (HTTP), RFC 9112 (HTTP/1.1), RFC 9113 (HTTP/2).
public final class Downloader: Sendable {
    /// The configuration that the downloader was created with.
    package let configuration: Configuration

    /// The list of requests that failed permanently and are not sent again for a limited time.
    public let failures: FailureList

    /// The limit of all bodies in memory.
    package let bodyBudget: BodyBudget
    let scheduler: DownloadScheduler
    let state: DownloaderState
    /// The parts of bodies that earlier downloads have left, in memory.
    package let parts: PartialBodies
    /// The parts in the directory of the configuration; `nil` without one.
    let partialBodies: PartialBodyCache?
    let pool = WorkPool(name: "eidetic-fetched", maximumThreadCount: 2)
    private let fields: Guarded<CommonFields>
    private let coalescer = Coalescer()
    private let lastID = Atomic<UInt64>(0)

    /// Creates a downloader with its own thread, connections and queue.
    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        fields = Guarded(CommonFields(configuration.headers, of: configuration))
        let failures = FailureList(policy: configuration.failurePolicy, time: configuration.time)
        let state = DownloaderState(configuration)
        let bodyBudget = BodyBudget(limit: configuration.bodyMemoryLimit)
        var options = EngineOptions(configuration, bodyBudget: bodyBudget)
        options.onNetworkChange = {
            failures.removeAll()
            state.resetAfterNetworkChange()
        }
        self.failures = failures
        self.state = state
        parts = PartialBodies(time: configuration.time, clock: configuration.retryClock)
        self.bodyBudget = bodyBudget
        scheduler = DownloadScheduler(configuration: configuration, options: options)
        partialBodies = PartialBodyStore(configuration).map { [pool] store in
            PartialBodyCache(
                store: store,
                pool: pool,
                workGroup: BackgroundWorkGroup(named: "eidetic downloads", provider: configuration.environment)
            )
        }
    }

    /// Loads the resource of `request` into memory.
    ///
    /// A response with status 304 is returned as well, for callers that send a conditional request.
    ///
    /// - Parameters:
    ///   - request: The request. Equal requests share one download.
    ///   - priority: The priority; a shared download has the highest priority of its callers.
    ///   - onProgress: A function that receives the progress after each chunk; it is called on a thread of the
    ///     downloader and must return soon.
    /// - Returns: The complete response.
    /// - Throws: `cancelled` as soon as the calling task is cancelled; otherwise the error of the download, with host
    ///   and port in its message.
    nonisolated(nonsending) public func fetch(
        _ request: FetchRequest,
        priority: LoadPriority = .normal,
        onProgress: (@Sendable (LoadProgress) -> Void)? = nil
    ) async throws(EideticError) -> FetchResponse {
        let context = JobContext(priority: priority)
        if configuration.requestModifier != nil {
            return try await fetch(modifying: request, context: context, onProgress: onProgress).withoutShare
        }
        return try await result(of: join(request, context: context, onProgress: onProgress)).withoutShare
    }

    /// Loads the resource of `request` with the priority of `context`, which may change at any time.
    nonisolated(nonsending) package func fetch(
        _ request: FetchRequest,
        context: JobContext,
        onProgress: (@Sendable (LoadProgress) -> Void)? = nil
    ) async throws(EideticError) -> FetchResponse {
        if configuration.requestModifier != nil {
            return try await fetch(modifying: request, context: context, onProgress: onProgress)
        }
        return try await result(of: join(request, context: context, onProgress: onProgress))
    }

    /// Loads the resource of the request that the modifier returns for `request`.
    @inline(never)
    nonisolated(nonsending) func fetch(
        modifying request: FetchRequest,
        context: JobContext,
        onProgress: (@Sendable (LoadProgress) -> Void)?
    ) async throws(EideticError) -> FetchResponse {
        let modified = try await modifiedRequest(for: request)
        let response = try await result(of: join(modified, context: context, onProgress: onProgress))
        recordSuccess(of: request)
        return response
    }

    /// Returns the request that the modifier returns for `request`, with the conditions of `request`.
    ///
    /// - Throws: The earlier error if `request` failed permanently before, whatever the modifier changes in it.
    func modifiedRequest(for request: FetchRequest) async throws(EideticError) -> FetchRequest {
        guard let modify = configuration.requestModifier else { return request }
        do throws(EideticError) { try checkFailures(of: request) } catch {
            configuration.onFinish?(request, .failure(error))
            throw error
        }
        var modified =
            if let modifications = request.modifications {
                try await modifications.modified(request, by: modify)
            } else {
                try await modify(request)
            }
        modified.conditions = request.conditions
        modified.redirectEntries = request.redirectEntries
        return modified
    }

    /// Starts the download, or joins the one in progress.
    ///
    /// It is a separate function to reduce the memory of suspended callers; see `TaskCoalescer/join`.
    @inline(never)
    func join(
        _ request: FetchRequest,
        context: JobContext,
        onProgress: (@Sendable (LoadProgress) -> Void)?
    ) throws(EideticError) -> Coalescer.Subscriber {
        try validate(request)
        let key = DownloadKey(request)
        return coalescer.join(key, context: context, onProgress: onProgress) { [self, key] job, completion in
            let download = Download(
                key: key,
                context: job.context,
                report: job.report,
                partOrigin: partOrigin
            )
            return start(download, completion: completion)
        }
    }

    @inline(__always)
    nonisolated(nonsending) func result(
        of subscriber: Coalescer.Subscriber
    ) async throws(EideticError) -> FetchResponse {
        await coalescer.wait(for: subscriber)
        return try reportResult(of: subscriber)
    }

    /// Passes the result to `onFinish` and returns it; a separate function for the same reason as `join`.
    @inline(never)
    private func reportResult(of subscriber: Coalescer.Subscriber) throws(EideticError) -> FetchResponse {
        let result = subscriber.outcome
        configuration.onFinish?(subscriber.key.request, result.map(\.withoutShare))
        return try result.get()
    }

    /// Throws `invalidArgument` if the request cannot be sent.
    func validate(_ request: FetchRequest) throws(EideticError) {
        if let error = fields.withLock({ $0.error }) { throw error }
        try request.validate()
    }

    /// The header fields of every request.
    var commonHeaders: HTTPHeaders { fields.withLock { $0.all } }

    /// The header fields of the user's own among those.
    var ownHeaders: HTTPHeaders {
        get { fields.withLock { $0.own } }
        set {
            let changed = CommonFields(newValue, of: configuration)
            fields.withLock { $0 = changed }
        }
    }

    func cancelAllDownloads() { coalescer.cancelAll() }

    /// The number of downloads in progress; a shared download counts once.
    package var jobCount: Int { coalescer.activeJobCount }

    func nextID() -> UInt64 { lastID.add(1, ordering: .relaxed).newValue }
}

/// The header fields of every request of a downloader.
private struct CommonFields: Sendable {
    /// The fields of the user's own.
    let own: HTTPHeaders
    /// The same, and those that the configuration implies.
    let all: HTTPHeaders
    /// The error of an invalid field; `nil` if all are valid.
    let error: EideticError?

    init(_ own: HTTPHeaders, of configuration: Downloader.Configuration) {
        let types = (configuration.acceptedTypes + ["*/*;q=0.8"]).joined(separator: ",")
        let defaults: HTTPHeaders = ["Accept": types]
        self.own = own
        all = defaults.merging(own)
        var fields = all
        fields.add(configuration.userAgent, for: "User-Agent")
        error = fields.requestError
    }
}

extension Downloader {
    typealias Coalescer = TaskCoalescer<DownloadKey, LoadProgress, FetchResponse>

    /// A download in progress, of a body that is returned or streamed.
    struct Download: Sendable {
        let key: DownloadKey
        let context: JobContext
        let report: @Sendable (LoadProgress) -> Void
        /// A Boolean value indicating whether the body is passed to one reader as it arrives.
        var isStreamed = false
        /// A function that receives the body as it arrives; `nil` for none.
        var onBody: ExchangeRequest.BodyHandler?
        /// The moment at which it began.
        let partOrigin: PartOrigin

        var request: FetchRequest { key.request }
    }
}
