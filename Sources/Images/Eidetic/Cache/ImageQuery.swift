public import EideticCore

/// A look-up with a completion handler that is called exactly once.
public final class ImageQuery: Sendable {
    package typealias Completion = @Sendable (Result<ImageCache.Hit?, EideticError>) -> Void

    private struct State {
        var completion: Completion?
        var task: Task<Void, Never>?
    }

    private let state: Guarded<State>

    package init(completion: @escaping Completion) { state = Guarded(State(completion: completion)) }

    /// A Boolean value indicating whether the completion handler was called.
    package var isFinished: Bool { state.withLock { $0.completion == nil } }

    /// Cancels the query: unless it is finished, its completion handler is called with `cancelled` before this returns.
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
        let isFinished = state.withLock { state in
            if state.completion != nil { state.task = task }
            return state.completion == nil
        }
        if isFinished { task.cancel() }
    }
}

extension ImageCache {
    /// Starts a look-up, and calls `completion` once with its result; returns at once.
    ///
    /// If the image is in memory, the completion handler is called before this function returns, on the calling thread,
    /// so that a reused cell does not flicker. Otherwise, it is called on another thread of the process.
    ///
    /// - Parameters:
    ///   - key: The image's key.
    ///   - tiers: The tiers to search; both by default.
    ///   - includingData: A Boolean value indicating whether the bytes are read from disk also if the image is in
    ///     memory; false by default.
    ///   - priority: The priority of the look-up.
    ///   - completion: Called once, with the hit, with `nil` if no tier has the image, or with `cancelled`.
    /// - Returns: A query that can be cancelled; if it is released, the look-up continues.
    @discardableResult
    public func query(
        _ key: Key,
        in tiers: Tiers = .all,
        includingData: Bool = false,
        priority: LoadPriority = .normal,
        completion: @escaping @Sendable (Result<Hit?, EideticError>) -> Void
    ) -> ImageQuery {
        let query = ImageQuery(completion: completion)
        start(query, for: key, in: tiers, includingData: includingData, priority: priority)
        return query
    }

    /// Finishes a query at once if the image is in memory, else in a task.
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
