public import EideticCore

/// A query that is under way, with a completion that is called exactly once.
public final class ImageQuery: Sendable {
    /// Gets the answer: `nil` where no tier has the picture, `cancelled` where the query was cancelled.
    public typealias Completion = @Sendable (Result<ImageCache.Hit?, EideticError>) -> Void

    private struct State {
        var completion: Completion?
        var task: Task<Void, Never>?
    }

    private let state: Guarded<State>

    package init(completion: @escaping Completion) { state = Guarded(State(completion: completion)) }

    /// Whether the answer was given.
    public var isFinished: Bool { state.withLock { $0.completion == nil } }

    /// Gives the query up: unless it was answered already, it is answered `cancelled` before this returns.
    public func cancel() {
        let task = state.withLock { $0.task }
        finish(with: .failure(.cancelled))
        task?.cancel()
    }

    func finish(with result: Result<ImageCache.Hit?, EideticError>) {
        let completion = state.withLock { state in
            defer { (state.completion, state.task) = (nil, nil) }
            return state.completion
        }
        completion?(result)
    }

    func attach(_ task: Task<Void, Never>) {
        let isOver = state.withLock { state in
            if state.completion != nil { state.task = task }
            return state.completion == nil
        }
        if isOver { task.cancel() }
    }
}

extension ImageCache {
    /// Asks for a picture, and calls `completion` once with the answer; returns at once.
    ///
    /// A picture in memory is answered before this returns, on the calling thread, so that a reused cell does not
    /// flicker (L15). All other answers come on a thread of the process's own; see `hit(for:in:)`.
    ///
    /// - Returns: The query, by which it can be cancelled; it goes on where that is given up.
    @discardableResult
    public func query(
        _ key: Key,
        in tiers: Tiers = .all,
        includingData: Bool = false,
        priority: LoadPriority = .normal,
        completion: @escaping ImageQuery.Completion
    ) -> ImageQuery {
        let query = ImageQuery(completion: completion)
        start(query, for: key, in: tiers, includingData: includingData, priority: priority)
        return query
    }

    /// Answers a query: at once, or by a task.
    package func start(
        _ query: ImageQuery,
        for key: Key,
        in tiers: Tiers = .all,
        includingData: Bool = false,
        priority: LoadPriority = .normal
    ) {
        if !includingData, tiers.contains(.memory), let image = memoryImage(for: key) {
            return query.finish(with: .success(Hit(image: image, source: .memory, bytes: nil, metadata: nil)))
        }
        let task = Task.detached { [self] in
            do throws(EideticError) {
                let hit = try await lookup(key, in: tiers, includingData: includingData, priority: priority)
                query.finish(with: .success(hit))
            } catch {
                query.finish(with: .failure(error))
            }
        }
        query.attach(task)
    }
}
