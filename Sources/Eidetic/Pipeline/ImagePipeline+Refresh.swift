import EideticCore

extension ImagePipeline {
    /// Delivers the cached picture, then asks the server whether it has changed (L11).
    ///
    /// The answer is the cached picture where nothing has changed or the server cannot be asked, else the new one.
    func refreshed(
        _ request: ImageRequest,
        _ hit: ImageResponse?,
        _ context: JobContext,
        _ report: @escaping @Sendable (ImageTaskEvent) -> Void
    ) async throws(EideticError) -> ImageResponse {
        guard var cached = try await cachedAnswer(request, hit, context) else {
            // An animation is asked for, and the cached picture may be none.
            let isAnimation = request.options.contains(.matchAnimatedImage)
            return try await made(request, route: isAnimation ? .originOnly : nil, context, report)
        }
        report(.cached(cached))
        let timer = StepTimer()
        do throws(EideticError) {
            let outcome = try await refresher.outcome(for: request, shown: cached.image, context: context) {
                report(.progress($0))
            }
            switch outcome {
            case .unchanged(let step, let isTransferred):
                cached.trace.steps.append(step)
                cached.isTransferred = isTransferred
                cached.revalidation = .unchanged
                try await waitForStore(of: nil, request, &cached)
                return cached
            case .changed(let picture):
                try check(picture.image, request.options)
                var response = try await response(picture, request)
                response.revalidation = .changed
                return response
            }
        } catch  where error.code != .cancelled {
            cached.trace.steps.append(timer.step(.network, detail: "failed: \(error)"))
            cached.revalidation = .failed(error)
            return cached
        }
    }

    /// What a cache has, however stale; `nil` where that is nothing, or nothing that serves.
    private func cachedAnswer(
        _ request: ImageRequest,
        _ hit: ImageResponse?,
        _ context: JobContext
    ) async throws(EideticError) -> ImageResponse? {
        if let hit { return hit }
        let offline = request.with(options: request.options.union(.fromCacheOnly).subtracting(.refreshCached))
        do throws(EideticError) {
            return try await made(offline, route: .anyCached, context) { _ in }
        } catch  where [.cacheMiss, .unsupportedFormat].contains(error.code) {
            return nil
        }
    }

    /// Asks the server while the stale picture is shown (`stale-while-revalidate`); once for all who are shown it.
    func revalidateInBackground(_ request: ImageRequest, _ shown: Image) {
        Task.detached(priority: .utility) { [refresher] in
            do throws(EideticError) {
                let context = JobContext(priority: .low)
                _ = try await refresher.outcome(for: request, shown: shown, context: context, onProgress: nil)
            } catch {
                Log.write(.info, category: .pipeline, message: "\(request.name): not revalidated: \(error)")
            }
        }
    }
}
