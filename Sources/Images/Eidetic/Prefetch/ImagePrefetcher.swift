public import EideticCore

/// A loader of images that will be needed soon, at low priority.
///
/// If an image becomes visible while it is prefetched, the view's load joins the same job, and raises its priority.
///
/// Each group keeps its prefetcher. Once nothing has the prefetcher or one of its groups, all of them are cancelled.
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
    private let work: Work

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
        work = Work(destination: destination, maximumConcurrent: maximumConcurrent)
    }

    deinit { cancelAll() }

    /// A Boolean value indicating whether no further load is started; active ones continue.
    public var isPaused: Bool {
        get { work.limiter.isPaused }
        set { work.limiter.isPaused = newValue }
    }

    /// The priority of the loads that are started from now on; low by default.
    ///
    /// Loads of low priority wait while the user scrolls.
    public var priority: LoadPriority {
        get { work.state.withLock { $0.priority } }
        set { work.state.withLock { $0.priority = newValue } }
    }

    /// Starts to prefetch images in the order of their requests.
    ///
    /// - Parameters:
    ///   - requests: The requests.
    ///   - onEach: Called when each request ends, with the error of one that failed or could not be stored, on any
    ///     thread; it must return soon.
    /// - Returns: The group of these requests.
    @discardableResult
    public func prefetch(
        _ requests: [ImageRequest],
        onEach: @escaping @Sendable (ImageRequest, EideticError?) -> Void = { _, _ in }
    ) -> Group {
        prefetch(requests) { (request: ImageRequest, outcome: Swift.Result<Result, EideticError>) in
            switch outcome {
            case .success(let result): onEach(request, result.storeError)
            case .failure(let error): onEach(request, error)
            }
        }
    }

    /// Starts to prefetch images, and calls a function with the outcome of each request.
    package func prefetch(
        _ requests: [ImageRequest],
        onEach: @escaping @Sendable (ImageRequest, Swift.Result<Result, EideticError>) -> Void
    ) -> Group {
        let (stream, continuation) = AsyncStream<Progress>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let (outcomes, outcome) = AsyncStream<Swift.Result<Result, EideticError>>.makeStream()
        let pipeline = pipeline ?? .shared
        let loads = requests.map { request in
            work.start(request, in: pipeline) { result in
                onEach(request, result)
                outcome.yield(result)
            }
        }
        let end = Task.detached(priority: .utility) {
            var progress = Progress(total: requests.count), iterator = outcomes.makeAsyncIterator()
            while progress.finished < progress.total, let outcome = await iterator.next() {
                progress.count(outcome)
                continuation.yield(progress)
            }
            continuation.finish()
            return progress
        }
        return Group(of: self, progress: stream, loads: loads, end: end)
    }

    /// Cancels the prefetches for which a function returns true, by default all of them, in whichever group they are.
    ///
    /// A waiting prefetch is not started, and an active one is cancelled: `cancelAll { hidden.contains($0) }`.
    ///
    /// - Complexity: O(*n*) in the number of prefetches that have not ended.
    public func cancelAll(where shouldCancel: (ImageRequest) -> Bool = { _ in true }) {
        for load in work.state.withLock({ Array($0.loads.values) }) where shouldCancel(load.request) {
            load.task.cancel()
        }
    }
}

/// The part of a prefetcher that its loads keep.
private final class Work: Sendable {
    struct State {
        var priority = LoadPriority.low
        var lastID = 0
        /// The loads that have not ended.
        var loads: [Int: (request: ImageRequest, task: Task<Void, Never>)] = [:]
    }

    let limiter: AsyncLimiter
    let state = Guarded(State())
    private let destination: ImagePrefetcher.Destination

    init(destination: ImagePrefetcher.Destination, maximumConcurrent: Int) {
        self.destination = destination
        limiter = AsyncLimiter(maximumConcurrent: maximumConcurrent)
    }

    /// Starts a load, which waits for its turn, and calls a function when it ends.
    func start(
        _ request: ImageRequest,
        in pipeline: ImagePipeline,
        onEnd: @escaping @Sendable (Result<ImagePrefetcher.Result, EideticError>) -> Void
    ) -> Task<Void, Never> {
        let ticket = limiter.reserveTicket()
        // A task that ends at once waits for the lock until it is in the table.
        return state.withLock { state in
            state.lastID += 1
            let id = state.lastID
            let task = Task.detached(priority: .utility) { [self] in
                let result = await prefetch(request, in: pipeline, ticket: ticket)
                _ = self.state.withLock { $0.loads.removeValue(forKey: id) }
                onEnd(result)
            }
            state.loads[id] = (request, task)
            return task
        }
    }

    private func prefetch(
        _ request: ImageRequest,
        in pipeline: ImagePipeline,
        ticket: AsyncLimiter.Ticket
    ) async -> Result<ImagePrefetcher.Result, EideticError> {
        do throws(EideticError) {
            try await limiter.acquire(ticket: ticket)
            defer { limiter.release() }
            let priority = state.withLock { $0.priority }
            // Images in memory are decoded.
            let request = request.decodingImmediately.with(priority: priority)
            let response = try await pipeline.load(
                pipeline.prepare(request),
                context: JobContext(priority: priority),
                prefetchingTo: destination
            )
            return .success(ImagePrefetcher.Result(response, destination: destination))
        } catch {
            return .failure(error)
        }
    }
}

extension ImagePrefetcher {
    /// A prefetched image, without its pixels.
    package struct Result: Sendable {
        package let source: ImageSource
        package let format: ImageFormat
        /// The size of the full image in upright pixels.
        package let size: PixelSize
        package let byteCount: ByteCount
        package let trace: LoadTrace
        /// The error of writing the bytes to disk; set for the destination `disk`, or if the request waits for storage.
        package let storeError: EideticError?
        /// A Boolean value indicating whether the image was already at the destination, so that nothing was loaded.
        package let wasPresent: Bool
    }
}

extension ImagePrefetcher.Result {
    init(_ response: ImageResponse, destination: ImagePrefetcher.Destination) {
        let isLoaded = response.trace.steps.contains { [.network, .origin].contains($0.stage) }
        self.init(
            source: response.source,
            format: response.image.format,
            size: response.image.sourceSize,
            byteCount: response.byteCount,
            trace: response.trace,
            storeError: response.storeError,
            wasPresent: !isLoaded && response.source == (destination == .memory ? .memory : .disk)
        )
    }
}

extension ImagePrefetcher {
    /// The progress of a group of prefetches.
    public struct Progress: Sendable, Hashable {
        /// The number of images that are done, with or without success.
        public var finished: Int
        /// The number of images among them that failed or were cancelled.
        public var failed: Int
        /// The number of images among them that were already at the destination, so that nothing was loaded.
        public var skipped: Int
        /// The number of all images.
        public let total: Int

        package init(finished: Int = 0, failed: Int = 0, skipped: Int = 0, total: Int) {
            self.finished = finished
            self.failed = failed
            self.skipped = skipped
            self.total = total
        }

        mutating func count(_ outcome: Swift.Result<Result, EideticError>) {
            finished += 1
            switch outcome {
            case .success(let result): if result.wasPresent { skipped += 1 }
            case .failure: failed += 1
            }
        }
    }

    /// Images that are prefetched together.
    public final class Group: Sendable {
        /// The progress after each image; a slow reader receives only the latest value.
        ///
        /// The sequence ends when all images are done.
        public let progress: AsyncStream<Progress>
        private let loads: [Task<Void, Never>]
        private let end: Task<Progress, Never>
        private let prefetcher: ImagePrefetcher

        init(
            of prefetcher: ImagePrefetcher,
            progress: AsyncStream<Progress>,
            loads: [Task<Void, Never>],
            end: Task<Progress, Never>
        ) {
            self.prefetcher = prefetcher
            self.progress = progress
            self.loads = loads
            self.end = end
        }

        /// Cancels the group: no further load is started, and the active ones are cancelled.
        public func cancel() { for load in loads { load.cancel() } }

        /// Waits until all images are done.
        ///
        /// - Returns: The final progress.
        nonisolated(nonsending) public func finish() async -> Progress { await end.value }
    }
}
