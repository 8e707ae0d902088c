public import EideticCore
public import EideticFetch

/// A cancellable load with completion handlers on the main actor.
///
/// The completion handler is called exactly once, on the main actor: within
/// ``ImagePipeline/load(_:cached:preview:progress:completion:)`` if the image is in memory, within ``cancel()`` if the
/// task is cancelled, otherwise later.
@MainActor
public final class ImageTask {
    /// The functions that a task calls.
    struct Handlers {
        var cached: (@MainActor (ImageResponse) -> Void)?
        var preview: (@MainActor (Image) -> Void)?
        var progress: (@MainActor (FetchProgress) -> Void)?
        var completion: @MainActor (Result<ImageResponse, EideticError>) -> Void
    }

    /// The request.
    public let request: ImageRequest

    /// The progress of the download; `nil` before the first byte.
    public private(set) var progress: FetchProgress?

    /// The outcome; `nil` until the task is finished.
    public private(set) var result: Result<ImageResponse, EideticError>?

    /// The load of a task, which another task may take over.
    private final class Load {
        var owner: ImageTask?
        var task: Task<Void, Never>?
        init(owner: ImageTask) { self.owner = owner }
    }

    private let context: JobContext
    private let handlers: Handlers
    private var load: Load?

    /// Creates a task, and starts its load.
    ///
    /// - Parameters:
    ///   - prepared: The request, processed.
    ///   - pipeline: The pipeline that loads.
    ///   - hit: The response from memory, if the caller has found one.
    ///   - decodesImages: A Boolean value indicating whether images are decoded before they are delivered.
    ///   - handlers: The functions to call.
    init(
        for prepared: PreparedLoad,
        in pipeline: ImagePipeline,
        hit: ImageResponse?,
        decodesImages: Bool = false,
        handlers: Handlers
    ) {
        request = prepared.request
        self.handlers = handlers
        context = JobContext(priority: prepared.request.priority)
        if let hit {
            finish(with: .success(hit))
        } else {
            start(pipeline.events(for: prepared, context: context), decodesImages: decodesImages)
        }
    }

    /// Creates a task that takes over the load of another one, which can only be cancelled from then on.
    ///
    /// - Parameters:
    ///   - earlier: An unfinished task.
    ///   - request: An equal request; if its priority differs from the earlier one's, it becomes that of the load.
    ///   - handlers: The functions to call.
    init(takingOver earlier: ImageTask, for request: ImageRequest, handlers: Handlers) {
        self.request = request
        context = earlier.context
        progress = earlier.progress
        self.handlers = handlers
        load = earlier.load
        earlier.load = nil
        load?.owner = self
        if request.priority != earlier.request.priority { context.priority = request.priority }
    }

    /// The priority, which may be changed until the task is finished.
    public var priority: LoadPriority {
        get { context.priority }
        set { if result == nil { context.priority = newValue } }
    }

    /// Cancels the task: its completion handler is called with `cancelled` before this function returns.
    ///
    /// Other callers of the same image still get it.
    public func cancel() {
        load?.task?.cancel()
        finish(with: .failure(.cancelled))
    }

    private func start(_ events: Events, decodesImages: Bool) {
        let load = Load(owner: self)
        self.load = load
        load.task = Task {
            for await event in events {
                guard let event = decodesImages ? await event.decoded() : event else { continue }
                load.owner?.handle(event)
            }
        }
    }

    private func handle(_ event: Event) {
        switch event {
        case .progress(let progress):
            self.progress = progress
            handlers.progress?(progress)
        case .preview(let image): handlers.preview?(image)
        case .cached(let response): handlers.cached?(response)
        case .finished(let response): finish(with: .success(response))
        case .failed(let error): finish(with: .failure(error))
        }
    }

    private func finish(with outcome: Result<ImageResponse, EideticError>) {
        guard result == nil else { return }
        result = outcome
        load?.owner = nil
        load = nil
        handlers.completion(outcome)
    }
}

extension ImagePipeline {
    /// Starts a load that calls back on the main actor; an image in memory is delivered before this function returns.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - cached: Called with the cached image before it is revalidated (`refreshCached`).
    ///   - preview: Called with partial images (`progressive`).
    ///   - progress: Called as bytes are received.
    ///   - completion: Called once with the image, or with the error.
    /// - Returns: The task, which can be cancelled.
    @MainActor
    @discardableResult
    public func load(
        _ request: ImageRequest,
        cached: (@MainActor (ImageResponse) -> Void)? = nil,
        preview: (@MainActor (Image) -> Void)? = nil,
        progress: (@MainActor (FetchProgress) -> Void)? = nil,
        completion: @escaping @MainActor (Result<ImageResponse, EideticError>) -> Void
    ) -> ImageTask {
        let handlers = ImageTask.Handlers(cached: cached, preview: preview, progress: progress, completion: completion)
        let prepared = prepare(request)
        return ImageTask(for: prepared, in: self, hit: synchronousResponse(for: prepared), handlers: handlers)
    }
}
