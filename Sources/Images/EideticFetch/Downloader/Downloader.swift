public import EideticCore
import EideticHTTP

/// A client that loads bytes over HTTP and HTTPS.
///
/// Equal requests (``FetchRequest``) that are in progress at the same time share one download. A caller leaves by
/// cancelling its task; the download is cancelled when its last caller leaves. All members may be called on any thread.
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
    /// The parts of bodies that earlier downloads have left.
    package let parts: DownloadParts
    /// The fields and credentials of all requests.
    package let fields: RequestFields
    let hooks: ResponseHooks
    let exchanges: DownloadExchanges
    let coalescer = Coalescer()

    /// Creates a downloader with its own thread, connections and queue.
    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        let pool = WorkPool(name: "eidetic-fetched", maximumThreadCount: 2)
        fields = RequestFields(configuration)
        parts = DownloadParts(configuration, fields: fields, pool: pool)
        hooks = ResponseHooks(configuration, pool: pool)
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
        self.bodyBudget = bodyBudget
        scheduler = DownloadScheduler(configuration: configuration, options: options)
        exchanges = DownloadExchanges(
            configuration,
            fields: fields,
            hooks: hooks,
            failures: failures,
            parts: parts,
            pool: pool,
            scheduler: scheduler,
            state: state
        )
    }

    /// Loads the resource of `request` into memory.
    ///
    /// A response with status 304 is returned, too, for callers that send a conditional request.
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
        failures.recordSuccess(of: request)
        return response
    }

    /// Returns the request that the modifier returns for `request`, with the conditions of `request`.
    ///
    /// - Throws: The earlier error if `request` failed permanently before, whatever the modifier changes in it.
    func modifiedRequest(for request: FetchRequest) async throws(EideticError) -> FetchRequest {
        guard let modify = configuration.requestModifier else { return request }
        do throws(EideticError) { try failures.checkUnlessIgnored(request) } catch {
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
        try fields.validate(request)
        let key = DownloadKey(request)
        return coalescer.join(key, context: context, onProgress: onProgress) { [self, key] job, completion in
            let download = Download(
                key: key,
                context: job.context,
                report: job.report,
                partOrigin: parts.origin
            )
            return exchanges.start(download, completion: completion)
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

    /// The number of downloads in progress; a shared download counts once.
    package var jobCount: Int { coalescer.activeJobCount }
}

extension Downloader {
    typealias Coalescer = TaskCoalescer<DownloadKey, LoadProgress, FetchResponse>
}
