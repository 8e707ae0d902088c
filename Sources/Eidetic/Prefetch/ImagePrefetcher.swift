public import EideticCore

/// Loads pictures before they are needed, at low priority (L19).
///
/// A picture that becomes visible while it is prefetched is the same job: the view's request joins it and makes it as
/// urgent as the view needs.
public final class ImagePrefetcher: Sendable {
    /// How far prefetching goes.
    public enum Destination: Sendable, Hashable {
        /// Decoded pictures in memory.
        case memory
        /// Originals on disk, without decoding: only what their heads say is looked at.
        ///
        /// What is there is not asked for again, also with `refreshCached`; `fromLoaderOnly` does that. What is local, as a
        /// file, is not copied.
        case disk
    }

    private let pipeline: ImagePipeline
    private let destination: Destination
    private let limiter: AsyncLimiter

    /// Creates a prefetcher that loads `width` pictures at a time, 3 by default.
    public init(pipeline: ImagePipeline = .shared, destination: Destination = .memory, maximumConcurrent: Int = 3) {
        self.pipeline = pipeline
        self.destination = destination
        limiter = AsyncLimiter(maximumConcurrent: maximumConcurrent)
    }

    /// Whether no further picture is begun; those under way go on.
    public var isPaused: Bool {
        get { limiter.isPaused }
        set { limiter.isPaused = newValue }
    }

    /// Prefetches `requests` in their order.
    ///
    /// `onEach` is told how each ended, as it ends and on whatever thread; it must return soon.
    @discardableResult
    public func prefetch(
        _ requests: [ImageRequest],
        onEach: (@Sendable (ImageRequest, Result<PrefetchResult, EideticError>) -> Void)? = nil
    ) -> PrefetchGroup {
        let (stream, continuation) = AsyncStream<PrefetchProgress>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let task = Task.detached(priority: .utility) { [self] in
            var count = PrefetchProgress(finished: 0, skipped: 0, total: requests.count)
            await withTaskGroup(of: Bool.self) { group in
                for request in requests {
                    let number = limiter.reserveTicket()
                    group.addTask { [self] in
                        let result = await prefetch(request, number: number)
                        onEach?(request, result)
                        return (try? result.get()) != nil
                    }
                }
                for await isThere in group {
                    count.finished += 1
                    if !isThere { count.skipped += 1 }
                    continuation.yield(count)
                }
            }
            continuation.finish()
            return count
        }
        return PrefetchGroup(progress: stream, task: task)
    }

    private func prefetch(_ request: ImageRequest, number: UInt64) async -> Result<PrefetchResult, EideticError> {
        // Pictures in memory are decoded.
        let request = request.decodingImmediately.with(priority: .low)
        do throws(EideticError) {
            try await limiter.acquire(ticket: number)
            defer { limiter.release() }
            return .success(PrefetchResult(try await pipeline.prefetch(request, to: destination)))
        } catch {
            return .failure(error)
        }
    }
}

/// A picture that was prefetched.
public struct PrefetchResult: Sendable {
    /// Where it came from.
    public let source: ImageSource
    /// What it is.
    public let format: ImageFormat
    /// The size of the original when upright.
    public let size: PixelSize
    /// The bytes of the encoded original.
    public let byteCount: ByteCount
    /// How it was brought.
    public let trace: LoadTrace
    /// Why the original could not be stored on disk; known for the destination `disk`, and with `waitStoreCache`.
    public let storeError: EideticError?
}

extension PrefetchResult {
    fileprivate init(_ response: ImageResponse) {
        self.init(
            source: response.source,
            format: response.image.format,
            size: response.image.sourceSize,
            byteCount: response.byteCount,
            record: response.trace,
            storeError: response.storeError
        )
    }
}

/// How far a group of prefetches is.
public struct PrefetchProgress: Sendable, Hashable {
    /// Pictures that are done, with or without success.
    public var finished: Int
    /// Pictures among them that failed or were cancelled.
    public var skipped: Int
    /// Pictures in all.
    public let total: Int

    /// Creates a progress.
    public init(finished: Int, skipped: Int, total: Int) {
        self.finished = finished
        self.skipped = skipped
        self.total = total
    }
}

/// Pictures that are prefetched together.
public final class PrefetchGroup: Sendable {
    /// How far it is, after each picture; the newest only where the reader is slow.
    ///
    /// Ends when all are done or cancelled.
    public let progress: AsyncStream<PrefetchProgress>
    private let task: Task<PrefetchProgress, Never>

    init(progress: AsyncStream<PrefetchProgress>, task: Task<PrefetchProgress, Never>) {
        self.progress = progress
        self.task = task
    }

    /// Begins no further picture and leaves those under way.
    public func cancel() { task.cancel() }

    /// Waits until all pictures are done or skipped; always comes to an end.
    public func finish() async -> PrefetchProgress { await task.value }
}
