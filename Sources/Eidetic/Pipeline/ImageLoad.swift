public import EideticCore
public import EideticFetch

/// A load with completion handlers on the main actor; for those who draw.
///
/// The completion is called exactly once, on the main actor: within ``ImagePipeline/load(_:cached:preview:progress:completion:)``
/// for a picture in memory, within ``cancel()`` when it is cancelled, else later.
@MainActor
public final class ImageTask {
    /// What a load tells while it goes on, and at its end.
    struct Handlers {
        var cached: (@MainActor (ImageResponse) -> Void)?
        var preview: (@MainActor (Image) -> Void)?
        var progress: (@MainActor (FetchProgress) -> Void)?
        var completion: @MainActor (Result<ImageResponse, EideticError>) -> Void
    }

    /// What is loaded.
    public let request: ImageRequest

    /// How far the download is; `nil` before the first byte.
    public private(set) var progress: FetchProgress?

    /// How it ended; `nil` while it goes on.
    public private(set) var result: Result<ImageResponse, EideticError>?

    /// What goes on for a load, or for another that took it over.
    private final class Work {
        var listener: ImageTask?
        var task: Task<Void, Never>?
        init(_ listener: ImageTask) { self.listener = listener }
    }

    private let context: JobContext
    private let handlers: Handlers
    private var work: Work?

    /// `hit` is what memory answers, asked for by the caller just now.
    ///
    /// With `decodes` nothing is delivered whose pixels are still to be made.
    init(
        _ pipeline: ImagePipeline,
        _ request: ImageRequest,
        hit: ImageResponse?,
        decodes: Bool = false,
        _ handlers: Handlers
    ) {
        self.request = request
        self.handlers = handlers
        context = JobContext(priority: request.priority)
        if let hit {
            finish(.success(hit))
        } else {
            begin(pipeline.events(for: request, context), decodes)
        }
    }

    /// Takes over the work of a load that goes on, to which nothing is left but to be cancelled.
    ///
    /// `request` is an equal one, and says how urgent it is from now on where that is not what it said before.
    init(takingOver earlier: ImageTask, _ request: ImageRequest, _ handlers: Handlers) {
        self.request = request
        context = earlier.context
        progress = earlier.progress
        self.handlers = handlers
        work = earlier.work
        earlier.work = nil
        work?.listener = self
        if request.priority != earlier.request.priority { context.priority = request.priority }
    }

    /// How urgent it is; may be changed while it goes on.
    public var priority: LoadPriority {
        get { context.priority }
        set { if result == nil { context.priority = newValue } }
    }

    /// Ends it: the completion is called with `cancelled` before this returns.
    ///
    /// Others who want the picture still get it.
    public func cancel() {
        work?.task?.cancel()
        finish(.failure(.cancelled))
    }

    private func begin(_ events: ImageTaskEvents, _ decodes: Bool) {
        let work = Work(self)
        self.work = work
        work.task = Task {
            for await event in events {
                guard let event = decodes ? await event.decoded() : event else { continue }
                work.listener?.follow(event)
            }
        }
    }

    private func follow(_ event: ImageTaskEvent) {
        switch event {
        case .progress(let progress):
            self.progress = progress
            handlers.progress?(progress)
        case .preview(let image): handlers.preview?(image)
        case .cached(let response): handlers.cached?(response)
        case .finished(let response): finish(.success(response))
        case .failed(let error): finish(.failure(error))
        }
    }

    private func finish(_ outcome: Result<ImageResponse, EideticError>) {
        guard result == nil else { return }
        result = outcome
        work?.listener = nil
        work = nil
        handlers.completion(outcome)
    }
}

extension ImageTaskEvent {
    /// The same with a picture whose pixels are there, or what keeps them from being made.
    ///
    /// `nil` for a cached picture that cannot be decoded: there is nothing to be shown, and the end is still to come.
    fileprivate func decoded() async -> ImageTaskEvent? {
        switch self {
        case .cached(let response):
            guard let decoded = try? await response.decoded() else { return nil }
            return .cached(decoded)
        case .finished(let response):
            do throws(EideticError) { return .finished(try await response.decoded()) } catch { return .failed(error) }
        case .progress, .preview, .failed: return self
        }
    }
}

extension ImageResponse {
    fileprivate func decoded() async throws(EideticError) -> ImageResponse {
        guard !image.isDecoded else { return self }
        var response = self
        response.image = try await image.decoded()
        return response
    }
}

extension ImagePipeline {
    /// Loads a picture and calls back on the main actor; a picture in memory is delivered before this returns (L15).
    ///
    /// With `refreshCached`, `cached` is given the cached picture, and `completion` the final one; with `progressive`,
    /// `preview` is given partial pictures.
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
        return ImageTask(self, request, hit: synchronousHit(request), handlers)
    }
}
