import EideticCore

/// A load within a background task (`continueInBackground`).
///
/// When its time is used up, the download is handed over to another process, and then the load is cancelled.
final class BackgroundLoad: Sendable {
    private typealias Work = Task<Result<ImageResponse, EideticError>, Never>

    private let state = Guarded<(work: Work?, isExpired: Bool)>((nil, false))
    private let handOver: @Sendable () async -> Void

    /// Creates a load that calls `handOver` before it is cancelled.
    init(handOver: @escaping @Sendable () async -> Void) { self.handOver = handOver }

    /// Runs an operation while a background task is open; throws `cancelled` if that is refused.
    func run(
        named name: String,
        in environment: any BackgroundTaskProvider,
        operation: @escaping @Sendable () async throws(EideticError) -> ImageResponse
    ) async throws(EideticError) -> ImageResponse {
        let task = environment.beginBackgroundTask(named: name) { self.expire() }
        guard task != .invalid else { throw .cancelled }
        defer { environment.endBackgroundTask(task) }
        let work = Work {
            do throws(EideticError) { return .success(try await operation()) } catch { return .failure(error) }
        }
        // The time may be used up before the work is known.
        let isExpired = state.withLock { state in
            state.work = work
            return state.isExpired
        }
        if isExpired { work.cancel() }
        let result = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        return try result.get()
    }

    private func expire() {
        // The background task stays open until the load ends, and so until the hand-over is complete.
        Task {
            await handOver()
            let work = state.withLock { state in
                state.isExpired = true
                return state.work
            }
            work?.cancel()
        }
    }
}
