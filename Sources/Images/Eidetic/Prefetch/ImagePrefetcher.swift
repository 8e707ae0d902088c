public import EideticCore

/// A loader of images that will be needed soon, at low priority.
///
/// If an image becomes visible while it is prefetched, the view's load joins the same job, and raises its priority.
public final class ImagePrefetcher: Sendable {
    /// The tier to which images are prefetched.
    public enum Destination: Sendable, Hashable {
        /// Decoded images in memory.
        case memory
        /// Encoded images on disk; only their headers are read.
        ///
        /// An image on disk is not loaded again, even with `refreshCached`; the cache policy `reload` loads it again.
        /// Local resources, such as files, are not copied.
        case disk
        /// Encoded images on disk, downloaded by the service in `ImagePipeline.Configuration.transfers`.
        ///
        /// The downloads continue when the application is suspended or ends; the next process stores the results.
        /// Images that only this process can download, such as those with cookies, are loaded as with ``disk``.
        case transfers
    }

    private let pipeline: ImagePipeline?
    private let destination: Destination
    private let limiter: AsyncLimiter
    private let groups = Guarded(Groups())

    /// The groups that are not finished.
    private struct Groups {
        var lastID = 0
        var tasks: [Int: Task<Progress, Never>] = [:]
    }

    /// Creates a prefetcher.
    ///
    /// - Parameters:
    ///   - pipeline: The pipeline that loads; `nil`, the default, for the shared one at the start of each group.
    ///   - destination: The tier to fill; memory by default.
    ///   - maximumConcurrent: The largest number of concurrent loads; 3 by default.
    public init(
        pipeline: ImagePipeline? = nil,
        destination: Destination = .memory,
        maximumConcurrent: Int = 3
    ) {
        self.pipeline = pipeline
        self.destination = destination
        limiter = AsyncLimiter(maximumConcurrent: maximumConcurrent)
    }

    /// A Boolean value indicating whether no further load is started; active ones continue.
    public var isPaused: Bool {
        get { limiter.isPaused }
        set { limiter.isPaused = newValue }
    }

    /// Starts to prefetch images in the order of their requests.
    ///
    /// - Parameters:
    ///   - requests: The requests.
    ///   - onEach: Called when each request ends, with the error of one that failed, on any thread; it must return
    ///     soon.
    /// - Returns: The group of these requests.
    @discardableResult
    public func prefetch(
        _ requests: [ImageRequest],
        onEach: @escaping @Sendable (ImageRequest, EideticError?) -> Void = { _, _ in }
    ) -> Group {
        prefetch(requests) { (request: ImageRequest, outcome: Swift.Result<Result, EideticError>) in
            if case .failure(let error) = outcome { onEach(request, error) } else { onEach(request, nil) }
        }
    }

    /// Starts to prefetch images, and calls a function with the outcome of each request.
    package func prefetch(
        _ requests: [ImageRequest],
        onEach: @escaping @Sendable (ImageRequest, Swift.Result<Result, EideticError>) -> Void
    ) -> Group {
        let (stream, continuation) = AsyncStream<Progress>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let pipeline = pipeline ?? .shared
        // A task that ends at once waits for the lock until it is in the table.
        let task = groups.withLock { groups in
            groups.lastID += 1
            let id = groups.lastID
            let task = Task.detached(priority: .utility) { [self] in
                defer { _ = self.groups.withLock { $0.tasks.removeValue(forKey: id) } }
                return await run(requests, in: pipeline, reporting: continuation, onEach: onEach)
            }
            groups.tasks[id] = task
            return task
        }
        return Group(progress: stream, task: task)
    }

    /// Cancels all groups: no further load is started, and the active ones are cancelled.
    public func cancelAll() {
        for task in groups.withLock({ Array($0.tasks.values) }) { task.cancel() }
    }

    private func run(
        _ requests: [ImageRequest],
        in pipeline: ImagePipeline,
        reporting continuation: AsyncStream<Progress>.Continuation,
        onEach: @escaping @Sendable (ImageRequest, Swift.Result<Result, EideticError>) -> Void
    ) async -> Progress {
        var progress = Progress(total: requests.count)
        await withTaskGroup(of: Swift.Result<Result, EideticError>.self) { group in
            for request in requests {
                let ticket = limiter.reserveTicket()
                group.addTask { [self] in
                    let result = await prefetch(request, in: pipeline, ticket: ticket)
                    onEach(request, result)
                    return result
                }
            }
            for await result in group {
                progress.count(result)
                continuation.yield(progress)
            }
        }
        continuation.finish()
        return progress
    }

    private func prefetch(
        _ request: ImageRequest,
        in pipeline: ImagePipeline,
        ticket: AsyncLimiter.Ticket
    ) async -> Swift.Result<Result, EideticError> {
        // Images in memory are decoded.
        let request = request.decodingImmediately.with(priority: .low)
        do throws(EideticError) {
            try await limiter.acquire(ticket: ticket)
            defer { limiter.release() }
            return .success(Result(try await pipeline.prefetch(request, to: destination), destination: destination))
        } catch {
            return .failure(error)
        }
    }
}
