public import EideticCore

/// The handle of one load, usable from any thread.
///
/// ```swift
/// let task = ImagePipeline.shared.task(for: request)
/// task.priority = .high
/// let image = try await task.image
/// ```
///
/// A load has exactly one outcome. It is cancelled by ``cancel()``; by the cancellation of a Swift task that awaits its
/// ``response``, ``image`` or ``events``; and when the handle and all of its sequences are released. Other callers of
/// the same image still receive it.
///
/// ``ImagePipeline/load(_:cached:preview:progress:completion:)`` returns a task with completion handlers. They are
/// called on the main actor, and the task need not be retained. The completion handler is called exactly once: before
/// that function returns if the image is in memory, during ``cancel()`` if that is called on the main actor, otherwise
/// later.
public final class ImageTask: Sendable {
    /// The functions that a task calls.
    package struct Handlers: Sendable {
        let cached: (@MainActor (ImageResponse) -> Void)?
        let preview: (@MainActor (Image) -> Void)?
        let progress: (@MainActor (LoadProgress) -> Void)?
        let completion: @MainActor (Result<ImageResponse, EideticError>) -> Void

        package init(
            cached: (@MainActor (ImageResponse) -> Void)?,
            preview: (@MainActor (Image) -> Void)?,
            progress: (@MainActor (LoadProgress) -> Void)?,
            completion: @escaping @MainActor (Result<ImageResponse, EideticError>) -> Void
        ) {
            self.cached = cached
            self.preview = preview
            self.progress = progress
            self.completion = completion
        }
    }

    private struct State {
        var progress: LoadProgress?
        var result: Result<ImageResponse, EideticError>?
        /// The newest events that a sequence must not miss if it is created after them.
        var cached: ImageResponse?
        var preview: Image?
        var handlers: Handlers?
        var sinks: [ObjectIdentifier: EventSink] = [:]
        /// The stream of the first sequence, which has all events.
        var first: (stream: EventStream, sink: EventSink)?
        var load: Load?
    }

    /// The request.
    public let request: ImageRequest

    private let context: JobContext
    private let state: Guarded<State>

    init(for request: ImageRequest, in pipeline: ImagePipeline) {
        self.request = request
        context = JobContext(priority: request.priority)
        let load = Load()
        let first = EventSink.makeStream()
        state = Guarded(State(sinks: [first.sink.id: first.sink], first: first, load: load))
        load.setTask(self, isRetained: false)
        load.start(pipeline.prepare(request), in: pipeline, context: context)
    }

    /// Creates a task with handlers, and starts its load.
    @MainActor
    package init(
        for prepared: PreparedLoad,
        in pipeline: ImagePipeline,
        hit: ImageResponse?,
        decodesImages: Bool = false,
        handlers: Handlers
    ) {
        request = prepared.request
        context = JobContext(priority: prepared.request.priority)
        if let hit {
            state = Guarded(State(result: .success(hit)))
            handlers.completion(.success(hit))
        } else {
            let load = Load()
            state = Guarded(State(handlers: handlers, load: load))
            load.setTask(self, isRetained: true)
            load.startDelivering(prepared, in: pipeline, context: context, decodesImages: decodesImages)
        }
    }

    /// Creates a task that takes over the load of another one, which can only be cancelled from then on; `nil` if that
    /// one is finished, which another thread may have done just now.
    ///
    /// - Parameters:
    ///   - earlier: A task with handlers.
    ///   - request: An equal request; if its priority differs from the earlier one's, it becomes that of the load.
    ///   - handlers: The functions to call.
    @MainActor
    package init?(takingOver earlier: ImageTask, for request: ImageRequest, handlers: Handlers) {
        let taken = earlier.state.withLock { state -> State? in
            guard state.result == nil, let load = state.load else { return nil }
            state.load = nil
            let (cached, preview) = (state.cached, state.preview)
            return State(progress: state.progress, cached: cached, preview: preview, handlers: handlers, load: load)
        }
        guard let taken else { return nil }
        self.request = request
        context = earlier.context
        state = Guarded(taken)
        taken.load?.setTask(self, isRetained: true)
        if request.priority != earlier.request.priority { context.priority = request.priority }
    }

    deinit { state.withLock { $0.load }?.cancel() }

    /// The progress of the download; `nil` before the first byte.
    public var progress: LoadProgress? { state.withLock { $0.progress } }

    /// The outcome; `nil` until the task is finished.
    public var result: Result<ImageResponse, EideticError>? { state.withLock { $0.result } }

    /// The priority, which may be changed until the task is finished.
    public var priority: LoadPriority {
        get { context.priority }
        set { if result == nil { context.priority = newValue } }
    }

    /// The response; waits until the load has ended.
    ///
    /// Throws the error of the load, or `cancelled`.
    nonisolated(nonsending) public var response: ImageResponse {
        get async throws(EideticError) {
            for await event in Events(of: self, stream: makeStream()) {
                switch event {
                case .finished(let response): return response
                case .failed(let error): throw error
                case .progress, .preview, .cached: continue
                }
            }
            throw .cancelled
        }
    }

    /// The image; waits until the load has ended.
    ///
    /// Throws the error of the load, or `cancelled`.
    nonisolated(nonsending) public var image: Image {
        get async throws(EideticError) { try await response.image }
    }

    /// Cancels the task, unless it is finished: when this function returns, its outcome is `cancelled`.
    ///
    /// If this function is called on the main actor, it calls the completion handler before it returns; otherwise the
    /// handler is called soon after.
    public func cancel() {
        guard let completion = finish(with: .failure(.cancelled), cancelsLoad: true) else { return }
        Task.immediate { @MainActor in completion(.failure(.cancelled)) }
    }

    /// Cancels the task as ``cancel()`` does, and calls the completion handler later: for a caller within a callback.
    package func cancelLater() {
        guard let completion = finish(with: .failure(.cancelled), cancelsLoad: true) else { return }
        Task { @MainActor in completion(.failure(.cancelled)) }
    }
}

// MARK: Events
extension ImageTask {
    /// Records an event that is not terminal, and passes it to the sequences.
    private func record(_ event: Event) {
        // The pixels of an earlier preview are released after the lock.
        var earlier: Image?
        let sinks = state.withLock { state -> [EventSink] in
            guard state.result == nil else { return [] }
            switch event {
            case .progress(let progress): state.progress = progress
            case .preview(let image): (state.preview, earlier) = (image, state.preview)
            case .cached(let response): state.cached = response
            case .finished, .failed: break
            }
            return Array(state.sinks.values)
        }
        for sink in sinks { sink.send(event) }
        withExtendedLifetime(earlier) {}
    }

    /// Sets the result, unless the task is finished.
    ///
    /// - Parameters:
    ///   - result: The outcome.
    ///   - cancelsLoad: A Boolean value indicating whether the load goes on and must be cancelled; otherwise it has
    ///     ended, and the Swift task that calls this function is its own.
    /// - Returns: The completion handler, which the caller calls; `nil` if there is none, or the task was finished.
    private func finish(
        with result: Result<ImageResponse, EideticError>,
        cancelsLoad: Bool = false
    ) -> (@MainActor (Result<ImageResponse, EideticError>) -> Void)? {
        let ended = state.withLock { state -> State? in
            guard state.result == nil else { return nil }
            let ended = state
            state = State(progress: ended.progress, result: result, first: ended.first)
            return ended
        }
        guard let ended else { return nil }
        if cancelsLoad { ended.load?.cancel() } else { ended.load?.release() }
        for sink in ended.sinks.values { sink.end(with: result) }
        return ended.handlers?.completion
    }

    /// Handles an event of the load of a task without handlers.
    func handle(_ event: Event) {
        if let result = event.result { _ = finish(with: result) } else { record(event) }
    }

    /// Handles an event of the load, and calls the handlers.
    @MainActor
    func deliver(_ event: Event) {
        if let result = event.result { return finish(with: result)?(result) ?? () }
        record(event)
        let handlers = state.withLock { $0.handlers }
        switch event {
        case .progress(let progress): handlers?.progress?(progress)
        case .preview(let image): handlers?.preview?(image)
        case .cached(let response): handlers?.cached?(response)
        case .finished, .failed: break
        }
    }

    /// Returns the stream that has all events, once, and then new ones.
    func makeFirstStream() -> EventStream {
        guard let first = state.withLock({ $0.first.take() }) else { return makeStream() }
        first.sink.onCancellation { [weak self, id = first.sink.id] in self?.remove(id) }
        return first.stream
    }

    func makeStream() -> EventStream {
        let (stream, sink) = EventSink.makeStream()
        sink.onCancellation { [weak self, id = sink.id] in self?.remove(id) }
        add(sink)
        return stream
    }

    /// Starts to send events to a sink, beginning with the newest ones that it has missed.
    private func add(_ sink: EventSink) {
        state.withLock { state in
            if let result = state.result { return sink.end(with: result) }
            // Nobody waits for the sink's first event yet, so nothing is resumed under the lock.
            if let cached = state.cached { sink.send(.cached(cached)) }
            if let progress = state.progress { sink.send(.progress(progress)) }
            if let preview = state.preview { sink.send(.preview(preview)) }
            state.sinks[sink.id] = sink
        }
    }

    /// Stops sending events to a sequence.
    private func remove(_ id: ObjectIdentifier) { _ = state.withLock { $0.sinks.removeValue(forKey: id) } }
}

extension ImagePipeline {
    /// Starts a load, and returns its handle.
    ///
    /// The load is cancelled when the handle and all sequences of its events are released.
    public func task(for request: ImageRequest) -> ImageTask { ImageTask(for: request, in: self) }

    /// Starts a load that calls back on the main actor; an image in memory is delivered before this function returns.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - cached: Called with the cached image before it is revalidated (`refreshCached`).
    ///   - preview: Called with partial images (`progressive`).
    ///   - progress: Called as bytes are received.
    ///   - completion: Called once with the image, or with the error.
    /// - Returns: The task, which need not be retained.
    @MainActor
    @discardableResult
    public func load(
        _ request: ImageRequest,
        cached: (@MainActor (ImageResponse) -> Void)? = nil,
        preview: (@MainActor (Image) -> Void)? = nil,
        progress: (@MainActor (LoadProgress) -> Void)? = nil,
        completion: @escaping @MainActor (Result<ImageResponse, EideticError>) -> Void
    ) -> ImageTask {
        let handlers = ImageTask.Handlers(cached: cached, preview: preview, progress: progress, completion: completion)
        let prepared = prepare(request)
        return ImageTask(for: prepared, in: self, hit: completingResponse(to: prepared), handlers: handlers)
    }
}
