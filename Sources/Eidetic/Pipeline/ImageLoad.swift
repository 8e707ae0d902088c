public import EideticCore
public import EideticFetch

/// A load with completion handlers on the main actor; for those who draw.
///
/// The completion is called exactly once, on the main actor: within ``ImagePipeline/load(_:progress:completion:)`` for a
/// picture in memory, within ``cancel()`` when it is cancelled, else later.
@MainActor
public final class ImageLoad {
    /// What is loaded.
    public let request: ImageRequest

    /// How far the download is; `nil` before the first byte.
    public private(set) var progress: FetchProgress?

    /// How it ended; `nil` while it goes on.
    public private(set) var result: Result<ImageResponse, EideticError>?

    private let context: WorkContext
    private var task: Task<Void, Never>?
    private let onProgress: (@MainActor (FetchProgress) -> Void)?
    private let completion: @MainActor (Result<ImageResponse, EideticError>) -> Void

    init(
        _ pipeline: ImagePipeline,
        _ request: ImageRequest,
        progress: (@MainActor (FetchProgress) -> Void)?,
        completion: @escaping @MainActor (Result<ImageResponse, EideticError>) -> Void
    ) {
        self.request = request
        onProgress = progress
        self.completion = completion
        context = WorkContext(priority: request.priority)
        if let hit = pipeline.synchronousHit(request) {
            finish(.success(hit))
        } else {
            follow(pipeline.events(for: request, context))
        }
    }

    /// How urgent it is; may be changed while it goes on.
    public var priority: LoadPriority {
        get { context.priority }
        set { context.priority = newValue }
    }

    /// Ends it: the completion is called with `cancelled` before this returns.
    ///
    /// Others who want the picture still get it.
    public func cancel() {
        task?.cancel()
        finish(.failure(.cancelled))
    }

    private func follow(_ events: ImageEvents) {
        task = Task { [self] in
            for await event in events {
                switch event {
                case .progress(let progress): report(progress)
                case .finished(let response): finish(.success(response))
                case .failed(let error): finish(.failure(error))
                }
            }
        }
    }

    private func report(_ progress: FetchProgress) {
        guard result == nil else { return }
        self.progress = progress
        onProgress?(progress)
    }

    private func finish(_ outcome: Result<ImageResponse, EideticError>) {
        guard result == nil else { return }
        result = outcome
        task = nil
        completion(outcome)
    }
}

extension ImagePipeline {
    /// Loads a picture and calls back on the main actor; a picture in memory is delivered before this returns (L15).
    @MainActor
    @discardableResult
    public func load(
        _ request: ImageRequest,
        progress: (@MainActor (FetchProgress) -> Void)? = nil,
        completion: @escaping @MainActor (Result<ImageResponse, EideticError>) -> Void
    ) -> ImageLoad {
        ImageLoad(self, request, progress: progress, completion: completion)
    }
}
